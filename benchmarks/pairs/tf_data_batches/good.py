"""An input pipeline in front of a classifier."""
import tensorflow as tf

SIZE = 32


def prepare(image, label):
    image = tf.image.resize(image, (SIZE, SIZE))
    return image / 255.0, label


images = tf.random.uniform((20, 48, 48, 3))
labels = tf.random.uniform((20,), maxval=4, dtype=tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).map(prepare).batch(5)

model = tf.keras.Sequential(
    [
        tf.keras.Input(shape=(32, 32, 3)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(4),
    ]
)
for batch, target in dataset:
    logits = model(batch)
print(logits.shape)
