"""An autoencoder as a model of its own."""
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Autoencoder(keras.Model):
    def __init__(self, code):
        super().__init__()
        self.encoder = keras.Sequential([layers.Flatten(), layers.Dense(code, activation="relu")])
        self.decoder = keras.Sequential(
            [layers.Dense(14 * 14, activation="sigmoid"), layers.Reshape((28, 28))]
        )

    def call(self, x):
        return self.decoder(self.encoder(x))  # bug: the decoder's code is narrower than what the encoder gives it


model = Autoencoder(32)
batch = tf.random.uniform((8, 28, 28))
print(tf.reduce_mean(tf.square(model(batch) - batch)).shape)
