"""Data that hand out batches (objects asked for them by number, generators) to Keras models: all run for real."""

from __future__ import annotations

_SOURCE = """
class Rows(BASE):
    def __init__(self, inputs, labels, size=4):
        super().__init__()
        self.inputs, self.labels, self.size = inputs, labels, size

    def __len__(self):
        return int(np.ceil(len(self.inputs) / self.size))

    def __getitem__(self, number):
        part = slice(number * self.size, (number + 1) * self.size)
        return self.inputs[part] / 2, self.labels[part]

class Classes(Rows):
    def __getitem__(self, number):
        inputs, labels = super().__getitem__(number)
        return inputs, keras.utils.to_categorical(labels[:, 0].astype(int), labels.shape[1])

class Weighted(Rows):
    def __getitem__(self, number):
        inputs, labels = super().__getitem__(number)
        return inputs, labels, np.ones(len(labels))

def pairs(inputs, labels):
    while True:
        for start in range(0, len(inputs), 4):
            yield inputs[start : start + 4], labels[start : start + 4]

def three(inputs, labels):
    for start in range(3):
        yield inputs[start * 2 : start * 2 + 2], labels[start * 2 : start * 2 + 2]

inputs, labels = np.ones((12, IN)), np.ones((12, OUT))
"""
_MODEL = """
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "categorical_crossentropy")
"""
_OWN = """
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide = keras.layers.Dense(3)

    def call(self, rows):
        return self.wide(rows)

    def train_step(self, data):
        x, y = data
        rows = tf.reduce_mean(self(x) - y)
        return {"loss": rows}

model = Own()
model.compile("sgd", "mse")
"""
_CALLS = (
    "fit(Rows(inputs, labels), verbose=0)",
    "fit(Classes(inputs, labels), verbose=0)",
    "fit(Weighted(inputs, labels), verbose=0)",
    "fit(Rows(inputs, labels, 5), steps_per_epoch=2, verbose=0)",
    "fit(pairs(inputs, labels), steps_per_epoch=2, verbose=0)",
    "fit(three(inputs, labels), verbose=0)",
    "fit(np.ones((8, 5)), np.ones((8, 3)), validation_data=Rows(inputs, labels), verbose=0)",
    "fit(np.ones((8, 5)), np.ones((8, 3)), validation_data=pairs(inputs, labels), validation_steps=1, verbose=0)",
    "evaluate(Rows(inputs, labels), verbose=0)",
    "evaluate(pairs(inputs, labels), steps=2, verbose=0)",
    "predict(Rows(inputs, labels), verbose=0) @ np.ones((3, 2))",
    "predict(Rows(inputs, labels), verbose=0) @ np.ones((4, 2))",
)
_SIZES = ((5, 3), (5, 4), (6, 3))


def programs(head: str, base: str, own: bool) -> list[str]:
    """Each source in each call, with data that fit the model and with data that do not; `own` for steps of TensorFlow too."""
    filled = [_SOURCE.replace("BASE", base).replace("IN", str(i)).replace("OUT", str(o)) for i, o in _SIZES]
    made = [f"{head}{source}{_MODEL}model.{call}\n" for source in filled for call in _CALLS]
    stepped = [call for call in _CALLS[:6] if own and "Weighted" not in call]
    return made + [f"{head}{source}{_OWN}model.{call}\n" for source in filled for call in stepped]
