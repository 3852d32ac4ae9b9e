"""Short programs of TensorFlow and JAX about structures: sparse and ragged tensors, Jacobians, trees as vectors, models taken
apart, functions that devices share. Each with a size that fits and with sizes that do not."""

from __future__ import annotations

_TF = "import tensorflow as tf\n"
_JAX = "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom flax import nnx\n"
_SPARSE = "kept = tf.SparseTensor([[0, 1], [2, 2]], [1.0, 2.0], [5, 3])\n"
_TAPE = "x = tf.ones((4, 3))\nwith tf.GradientTape(persistent=True) as tape:\n    tape.watch(x)\n    y = x @ tf.ones((3, 2))\n"
_TREE = "tree = {'b': jnp.ones(4), 'w': jnp.ones((3, 4))}\nflat, unravel = jax.flatten_util.ravel_pytree(tree)\n"
_LEAVES = "leaves, how = jax.tree.flatten([jnp.ones(2), (jnp.ones((2, 5)),)])\n"
_DEVICES = "mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ('data',))\nP = jax.sharding.PartitionSpec\n"
_SHARED = (
    f"{_DEVICES}run = jax.shard_map(lambda w, x: x @ w, mesh=mesh, in_specs=(P(), P('data')), out_specs=P('data'))\n"
    "run(jnp.ones((3, 2)), jnp.ones((8, SIZE)))\n"
)
_FORMS = {
    "tensorflow": (
        f"{_TF}{_SPARSE}tf.sparse.sparse_dense_matmul(kept, tf.ones((SIZE, 2)))\n",
        f"{_TF}{_SPARSE}tf.sparse.sparse_dense_matmul(kept, tf.ones((SIZE, 2)), adjoint_a=True)\n",
        f"{_TF}{_SPARSE}tf.sparse.to_dense(tf.sparse.transpose(kept)) + tf.ones((3, SIZE))\n",
        f"{_TF}tf.sparse.reduce_sum(tf.sparse.from_dense(tf.ones((5, 3))), axis=0) + tf.ones(SIZE)\n",
        f"{_TF}tf.ragged.constant([[1, 2, 3], [4], []]).to_tensor() + tf.ones((3, SIZE), tf.int32)\n",
        f"{_TF}tf.ragged.constant([[1, 2, 3], [4], []]).row_lengths() + tf.ones(SIZE, tf.int64)\n",
        f"{_TF}{_TAPE}tape.jacobian(y, x) + tf.ones((4, 2, 4, SIZE))\n",
        f"{_TF}{_TAPE}tape.batch_jacobian(y, x) + tf.ones((4, 2, SIZE))\n",
        f"{_TF}parts = tf.nest.map_structure(lambda t: t[1:], (tf.ones(6), [tf.ones((6, 2))]))\nparts[0] + tf.ones(SIZE)\n",
        f"{_TF}made = tf.keras.applications.resnet50.preprocess_input(tf.ones((2, 8, 8, 3)))\nmade + tf.ones((8, SIZE))\n",
    ),
    "jax": (
        f"{_JAX}{_TREE}unravel(jnp.ones(11 + SIZE))\nflat + jnp.ones(16)\n",
        f"{_JAX}{_TREE}unravel(2 * flat)['w'] @ jnp.ones(SIZE)\n",
        f"{_JAX}{_LEAVES}again = jax.tree.unflatten(how, [2 * leaf for leaf in leaves])\nagain[1][0] + jnp.ones(SIZE)\n",
        f"{_JAX}jax.tree.reduce(lambda a, b: a + b, {{'a': jnp.ones(5), 'b': jnp.ones(SIZE)}})\n",
        f"{_JAX}jax.jacobian(lambda v: jnp.ones((2, 3)) @ v)(jnp.ones(3)) + jnp.ones(SIZE)\n",
        f"{_JAX}{_SHARED}",
        f"{_JAX}how, state = nnx.split(nnx.Linear(3, 2, rngs=nnx.Rngs(0)))\nnnx.merge(how, state)(jnp.ones((4, SIZE)))\n",
        f"{_JAX}nnx.RNN(nnx.GRUCell(3, 5, rngs=nnx.Rngs(0)))(jnp.ones((2, 7, 3))) + jnp.ones(SIZE)\n",
        f"{_JAX}nnx.RNN(nnx.LSTMCell(3, 4, rngs=nnx.Rngs(0)))(jnp.ones((2, 7, SIZE)))\n",
    ),
}
PROGRAMS = {
    name: [form.replace("SIZE", str(size)) for form in forms for size in (3, 5, 6)] for name, forms in _FORMS.items()
}
