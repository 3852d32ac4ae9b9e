"""Estimators of TensorFlow 1: a function for the model, input functions, evaluations and exports."""

from __future__ import annotations

from horovod.surroundings import around, loops
from horovod.surroundings.writing import Draft, Program, put_together

MODEL = """\
def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], 8, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    logits = tf.layers.dense(hidden, 3, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.GradientDescentOptimizer(params["lr"])
    step = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
"""


def inputs(draft: Draft) -> None:
    """Input functions: of arrays, or with a pipeline."""
    batch = draft.option("batch_size", loops.BATCH * draft.scale)
    if draft.of(True, False):
        given = "{'x': $x_train}, $y_train"
        shuffle = "True" if draft.drawn else "False"
        draft.add(
            "setup",
            f"$train_in = tf.estimator.inputs.numpy_input_fn({given}, batch_size={batch}, num_epochs=None, shuffle={shuffle})",
        )
        draft.add(
            "setup",
            "$val_in = tf.estimator.inputs.numpy_input_fn({'x': $x_val}, $y_val, batch_size=8, num_epochs=1, shuffle=False)",
        )
        draft.add(
            "setup",
            "$test_in = tf.estimator.inputs.numpy_input_fn({'x': $x_test}, batch_size=8, num_epochs=1, shuffle=False)",
        )
        return
    shuffle = ".shuffle(96)" if draft.drawn else ""
    lines = [
        "def train_input(x, y, size):",
        f"    data = tf.data.Dataset.from_tensor_slices(({{'x': x}}, y)){shuffle}",
        "    return data.repeat().batch(size)",
        "",
        "",
    ]
    lines += ["def eval_input(x, y):", "    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).batch(8)", ""]
    draft.add("top", "", *lines)
    draft.add(
        "setup",
        f"$train_in = lambda: train_input($x_train, $y_train, {batch})",
        "$val_in = lambda: eval_input($x_val, $y_val)",
        "$test_in = lambda: eval_input($x_test, $y_test)",
    )


def ended(draft: Draft) -> None:
    """What is asked of the model behind its training."""
    if draft.chance(0.7, "final evaluation"):
        draft.add(
            "end",
            "final = $model.evaluate($val_in)",
            draft.of(
                "print('accuracy %.4f' % final['accuracy'])",
                "print('loss', round(float(final['loss']), 4), 'at step', final['global_step'])",
            ),
        )
    if draft.chance(0.5, "predictions"):
        draft.add("import", "import numpy as np")
        draft.add(
            "end",
            "found = [each['classes'] for each in $model.predict($test_in)]",
            draft.of(
                "print('predicted', len(found))",
                "np.savetxt(os.path.join($folder, 'predicted.txt'), found, fmt='%d')",
                "print('hits', int(np.sum(np.array(found) == $y_test)))",
            ),
        )


def estimator(draft: Draft) -> Program:
    """A program with an estimator."""
    draft.traits += ["flow=estimator", "tf1"]
    draft.add("import", "import tensorflow.compat.v1 as tf", "import os")
    draft.add("top", "tf.disable_eager_execution()", draft.of("tf.logging.set_verbosity(tf.logging.INFO)", ""))
    epochs = draft.option("epochs", draft.of(2, 3))
    steps = draft.option("steps", draft.half(12))
    around.beside(draft)
    loops.samples(draft)
    draft.add("setup", *draft.slots["data"])
    rate = draft.option("lr", 0.05 * draft.scale, "float")
    inputs(draft)
    draft.add("top", "", *MODEL.splitlines(), "")
    config = draft.of("", "", f", config=tf.estimator.RunConfig(save_checkpoints_steps={draft.half(12)})")
    draft.add(
        "setup",
        f"$model = tf.estimator.Estimator(model_fn, model_dir=os.path.join($folder, 'model'), params={{'lr': {rate}}}{config})",
    )
    kind = draft.of("loop", "once", "train_and_evaluate", trait="estimator runs")
    if kind == "loop":
        told = [
            "val_loss, val_acc = result['loss'], result['accuracy']",
            "train_loss = val_loss",
            *around.told_epoch(draft),
        ]
        inner = [f"$model.train($train_in, steps={steps})", "result = $model.evaluate($val_in)", *told]
        if draft.chance(0.4, "table"):
            around.table(draft)
        inner += draft.slots.get("epoch", [])
        draft.add(
            "loop",
            f"for epoch in range({epochs}):",
            *(f"    {line}" for each in [*draft.slots.get("before epoch", []), *inner] for line in each.split("\n")),
        )
    elif kind == "once":
        draft.add("loop", f"$model.train(input_fn=$train_in, steps={steps} * {epochs})")
    else:
        draft.add(
            "loop",
            f"train_spec = tf.estimator.TrainSpec($train_in, max_steps={steps} * {epochs})",
            "eval_spec = tf.estimator.EvalSpec($val_in, steps=None, throttle_secs=0)",
            "tf.estimator.train_and_evaluate($model, train_spec, eval_spec)",
        )
    ended(draft)
    return put_together(draft)
