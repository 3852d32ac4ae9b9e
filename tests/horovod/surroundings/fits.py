"""Training by `fit` of Keras, with callbacks."""

from __future__ import annotations

from horovod.surroundings import around, loops
from horovod.surroundings.writing import Draft, Program, put_together

BATCH = loops.BATCH
WATCHER = """\
class {name}(tf.keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.seen = []

    def on_epoch_end(self, epoch, logs=None):
        {act}
"""
ACTS = {
    "print": "print('end of epoch', epoch, 'loss %.4f' % logs['loss'])",
    "file": "with open(os.path.join(self.folder, 'own.txt'), 'a') as f:\n"
    "            f.write('%d %.4f\\n' % (epoch, logs['loss']))",
    "weights": "self.model.save_weights(os.path.join(self.folder, 'own-%d.h5' % epoch))",
    "predict": "scores = self.model.predict(np.ones((4, 4), 'float32'), verbose=0)\n"
    "        print('mean score %.4f' % float(scores.mean()))",
    "list": "self.seen.append(logs['val_loss'])\n"
    "        np.savetxt(os.path.join(self.folder, 'seen.txt'), self.seen, fmt='%.4f')",
    "stop": "if logs['val_loss'] > 1e9:\n            self.model.stop_training = True\n            print('diverged')",
}


def fed(draft: Draft) -> tuple[str, str]:
    """The data of `fit` and its other arguments."""
    batch = draft.option("batch_size", BATCH * draft.scale)
    kind = draft.of("arrays", "arrays", "pipeline", "generator", "sequence", trait="data")
    drawn = draft.drawn
    if kind == "arrays":
        shuffle = draft.of("", ", shuffle=True") if drawn else ", shuffle=False"
        return "$x_train, $y_train", f", batch_size={batch}{shuffle}"
    if kind == "pipeline":
        draft.add("setup", *loops.pipeline(draft))
        return "$train", ""
    if kind == "generator":
        order = ["order = np.random.permutation(len(x))" if drawn else "order = np.arange(len(x))"]
        lines = ["def batches(x, y, size):", "    while True:", *(f"        {each}" for each in order)]
        lines += [
            "        for i in range(0, len(x) - size + 1, size):",
            "            rows = order[i:i + size]",
            "            yield x[rows], y[rows]",
            "",
        ]
        draft.add("top", *lines)
        draft.add("setup", f"$train = batches($x_train, $y_train, {batch})")
        return "$train", f", steps_per_epoch=len($x_train) // {batch}"
    lines = [
        "class Batches(tf.keras.utils.Sequence):",
        "    def __init__(self, x, y, size):",
        "        self.x, self.y, self.size = x, y, size",
        "",
    ]
    lines += [
        "    def __len__(self):",
        draft.of("        return len(self.x) // self.size", "        return int(np.ceil(len(self.x) / self.size))"),
        "",
    ]
    lines += [
        "    def __getitem__(self, i):",
        "        part = slice(i * self.size, (i + 1) * self.size)",
        "        return self.x[part], self.y[part]",
        "",
    ]
    draft.add("top", *lines)
    draft.add("setup", f"$train = Batches($x_train, $y_train, {batch})")
    return "$train", "" if drawn else ", shuffle=False"


def validated(draft: Draft, arrays: bool) -> str:
    """What fit is judged by."""
    kind = draft.of("arrays", "pipeline", "split" if arrays and draft.drawn else "arrays", trait="validation")
    if kind == "split":
        return f", validation_split={1 / 3!r}"
    if kind == "pipeline":
        draft.add("setup", "$val = tf.data.Dataset.from_tensor_slices(($x_val, $y_val)).batch(8)")
        return ", validation_data=$val"
    return ", validation_data=($x_val, $y_val)"


def callbacks(draft: Draft) -> list[str]:
    """Callbacks, each an expression."""
    found = []
    kinds = "tf.keras.callbacks." if draft.of(True, False) else ""
    named = lambda name: f"{kinds}{name}" if kinds else name  # noqa: E731
    plain = []

    def use(name: str, given: str, share: float) -> bool:
        if not draft.chance(share, name):
            return False
        plain.append(name)
        found.append(f"{named(name)}({given})")
        return True

    monitor = draft.of("'val_loss'", "'val_accuracy'", trait="monitor")
    path = draft.of("os.path.join($folder, 'best.h5')", "$folder + '/best.h5'")
    draft.restore = None
    if use(
        "ModelCheckpoint",
        f"{path}, monitor={monitor}, save_best_only=True, save_weights_only=True{draft.of('', ', verbose=1')}",
        0.5,
    ):
        draft.restore = f"$model.load_weights({path})"
    elif use(
        "ModelCheckpoint",
        draft.of(
            "os.path.join($folder, 'w.{epoch:02d}.h5'), save_weights_only=True",
            "os.path.join($folder, 'e{epoch:02d}-{val_loss:.2f}.h5')",
            "filepath=os.path.join($folder, 'cp-{epoch:04d}.ckpt'), save_weights_only=True",
        ),
        0.5,
    ):
        pass
    use(
        "EarlyStopping",
        f"monitor={monitor}, patience={draft.of(0, 1)}{draft.of('', ', restore_best_weights=True')}",
        0.4,
    )
    use(
        "ReduceLROnPlateau",
        "monitor='val_loss', factor=0.5, patience=0, min_lr=1e-6" + draft.of("", ", verbose=1"),
        0.3,
    )
    use("CSVLogger", "os.path.join($folder, 'log.csv')" + draft.of("", ", append=True"), 0.35)
    use(
        "TensorBoard",
        draft.of("log_dir=os.path.join($folder, 'logs')", "os.path.join($folder, 'logs'), histogram_freq=0"),
        0.3,
    )
    use("LearningRateScheduler", draft.of("lambda epoch, rate: rate * 0.9", "lambda epoch: $o_lr * 0.9 ** epoch"), 0.2)
    use("LambdaCallback", "on_epoch_end=lambda epoch, logs: print('after', epoch, round(float(logs['loss']), 4))", 0.25)
    if not kinds and plain:
        draft.add("import", f"from tensorflow.keras.callbacks import {', '.join(dict.fromkeys(plain))}")
    if draft.chance(0.4, "own callback"):
        name, act = draft.of("Watcher", "Logger", "EpochEnd"), draft.of(*ACTS, trait="own callback does")
        draft.add("top", "", *WATCHER.format(name=name, act=ACTS[act]).splitlines(), "")
        found.append(f"{name}($folder)")
    return found


def history(draft: Draft) -> None:
    """What is told or kept of the epochs."""
    kind = draft.of("json", "picture", "print", "pickle", "best epoch", trait="history as")
    if kind == "json":
        draft.add("import", "import json")
        draft.add(
            "end",
            "with open(os.path.join($folder, 'history.json'), 'w') as f:",
            "    json.dump({k: [float(v) for v in vs] for k, vs in $history.history.items()}, f)",
        )
    elif kind == "pickle":
        draft.add("import", "import pickle")
        draft.add("end", "pickle.dump($history.history, open(os.path.join($folder, 'h.pkl'), 'wb'))")
    elif kind == "print":
        draft.add(
            "end",
            "print('final loss %.4f' % $history.history['loss'][-1])",
            "print(len($history.history['loss']), 'epochs')",
        )
    elif kind == "best epoch":
        draft.add(
            "end",
            "print('best epoch', int(np.argmin($history.history['val_loss'])), '%.4f' % min($history.history['val_loss']))",
        )
    else:
        draft.add("import", "import matplotlib.pyplot as plt")
        draft.add(
            "end",
            "plt.plot($history.history['loss'])",
            "plt.plot($history.history['val_loss'])",
            "plt.savefig(os.path.join($folder, 'loss.png'))",
        )


def after(draft: Draft) -> None:
    """What is done with the history and the model."""
    if draft.chance(0.5, "history"):
        history(draft)
    if draft.restore and draft.chance(0.6, "best read back"):
        draft.add("end", draft.restore)
    if draft.chance(0.7, "final test"):
        verbose = draft.of("verbose=0", "batch_size=8, verbose=0", "verbose=2")
        draft.add(
            "end",
            f"scores = $model.evaluate($x_test, $y_test, {verbose})",
            draft.of("print('Test loss: %.4f' % scores[0])", "print(f'accuracy {scores[1] * 100:.2f}%')"),
        )
    if draft.chance(0.3, "predictions"):
        kind = draft.of("csv", "npy", "print", trait="predictions as")
        draft.add("end", "preds = $model.predict($x_test, verbose=0)", "labels = np.argmax(preds, axis=1)")
        draft.add(
            "end",
            *{
                "csv": [
                    "with open(os.path.join($folder, 'preds.csv'), 'w') as f:",
                    "    for i, label in enumerate(labels):",
                    "        f.write(f'{i},{label}\\n')",
                ],
                "npy": ["np.save(os.path.join($folder, 'preds.npy'), preds)"],
                "print": ["print('hits', int((labels == $y_test).sum()), 'of', len($y_test))"],
            }[kind],
        )
    if draft.chance(0.5, "final save"):
        draft.add(
            "end",
            *draft.of(
                ["$model.save(os.path.join($folder, 'final.h5'))"],
                ["$model.save_weights(os.path.join($folder, 'final.weights.h5'))"],
                ["$model.save(os.path.join($folder, 'export'))"],
                ["with open(os.path.join($folder, 'model.json'), 'w') as f:", "    f.write($model.to_json())"],
            ),
        )


def called_back(draft: Draft, schedule: str) -> str:
    """The callbacks, as `fit` is given them."""
    used = callbacks(draft)
    if "schedules" in schedule:
        used = [each for each in used if "ReduceLR" not in each and "LearningRateScheduler" not in each]
    where = "$callbacks"
    if draft.of(True, False) or not used:
        where = f"[{', '.join(used)}]"
    elif draft.of(True, False):
        draft.add("setup", f"$callbacks = [{', '.join(used)}]")
    else:
        draft.add("setup", "$callbacks = []", *(f"$callbacks.append({each})" for each in used))
    return where


def fit(draft: Draft) -> Program:
    """A program that calls `fit`."""
    draft.traits.append("flow=fit")
    draft.add("import", "import tensorflow as tf", "import os", "import numpy as np")
    epochs = draft.option("epochs", draft.of(2, 3))
    around.seeds(draft)
    around.beside(draft)
    loops.samples(draft)
    draft.add("setup", *draft.slots["data"])
    model = loops.network(draft)
    if draft.chance(0.3, "built by a function"):
        draft.function("build", "", *(each.replace("$model", "made") for each in model), "return made")
        draft.add("setup", "$model = $f_build()")
    else:
        draft.add("setup", *model)
    data, given = fed(draft)
    schedule = loops.rate(draft)
    optimizer = draft.of("SGD", "Adam", "SGD")
    loss = "tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)"
    inner = f"tf.keras.optimizers.{optimizer}({schedule})"
    draft.add("setup", f"$model.compile({draft.of('optimizer=', '')}{inner}, loss={loss}, metrics=['accuracy'])")
    if draft.chance(0.3, "summary"):
        draft.add("setup", "$model.summary()")
    judged = validated(draft, "x_train" in data)
    where = called_back(draft, schedule)
    verbose = draft.of(", verbose=0", ", verbose=2", ", verbose=0", "", trait="verbose")
    phases = draft.chance(0.25, "two phases")
    call = f"$model.fit({data}{given}, epochs={epochs}{judged}, callbacks={where}{verbose})"
    if phases:
        first = f"$model.fit({data}{given}, epochs=1{verbose})"
        draft.add(
            "loop",
            "$model.layers[-2].trainable = False",
            f"$model.compile({inner}, loss={loss}, metrics=['accuracy'])",
            first,
        )
        draft.add(
            "loop",
            "$model.layers[-2].trainable = True",
            f"$model.compile(tf.keras.optimizers.{optimizer}($o_lr / 10), loss={loss}, metrics=['accuracy'])",
        )
    draft.add("loop", f"$history = {call}")
    draft.keeping = "plain"
    after(draft)
    return put_together(draft)
