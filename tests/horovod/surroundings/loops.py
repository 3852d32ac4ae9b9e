"""Training loops of a program's own: gradient tapes, `train_on_batch`, and sessions of TensorFlow 1."""

from __future__ import annotations

from horovod.surroundings import around
from horovod.surroundings.writing import Draft, Program, put_together

SAMPLES = """\
def {name}(n, period=None, shift=0):
    i = np.arange(n) % (period or n) + shift
    x = np.stack([np.sin(i * (k + 1.3)) for k in range(4)], axis=1).astype("float32")
    return x, ((i * 7 + 3) % 3).astype("{dtype}")
"""
METER = """\
class Meter:
    def __init__(self):
        self.total, self.count, self.avg = 0.0, 0, 0.0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n
        self.avg = self.total / self.count
"""
BATCH = 8


def samples(draft: Draft) -> None:
    """Arrays whose batches are alike however they are dealt out; where the order is drawn, all samples are."""
    draft.add("import", "import numpy as np")
    draft.drawn = draft.chance(0.5, "drawn order")
    period = 1 if draft.drawn else BATCH
    name = draft.of("make_data", "load_data", "get_samples")
    text = SAMPLES.format(name=name, dtype="int64")
    if draft.layout == "modules":
        draft.modules["data.py"] = f"import numpy as np\n\n\n{text}"
    else:
        draft.add("top", "", *text.splitlines(), "")
    if draft.chance(0.25, "data from files"):
        draft.add("import", "import os")
        draft.add(
            "data",
            "if not os.path.exists('data.npz'):",
            f"    a, b = {name}(96, {period})",
            "    np.savez('data.npz', x=a, y=b)",
            "raw = np.load('data.npz')",
            "$x_train, $y_train = raw['x'], raw['y']",
        )
    else:
        draft.add("data", f"$x_train, $y_train = {name}(96, {period})")
    draft.add("data", f"$x_val, $y_val = {name}(40, shift=3)", f"$x_test, $y_test = {name}(24, shift=11)")
    if draft.chance(0.5, "sizes told"):
        draft.add(
            "data",
            draft.of(
                "print('train', len($x_train), 'val', len($x_val))", 'print(f"{$x_train.shape[0]} training samples")'
            ),
        )


def network(draft: Draft) -> list[str]:
    """A small model of Keras, whose weights begin alike."""
    first = "kernel_initializer=init(1)"
    layers = draft.of("tf.keras.layers", "keras.layers", "layers")
    draft.add(
        "import",
        {"keras.layers": "from tensorflow import keras", "layers": "from tensorflow.keras import layers"}.get(
            layers, "import tensorflow as tf"
        ),
    )
    draft.add("top", "init = tf.keras.initializers.GlorotUniform")
    one = f"{layers}.Dense(8, activation='tanh', {first}, input_shape=(4,))"
    two = f"{layers}.Dense(3, kernel_initializer=init(2))"
    way = draft.of("sequential", "functional", "add", trait="model")
    if way == "sequential":
        return [f"$model = tf.keras.Sequential([{one}, {two}])"]
    if way == "add":
        return ["$model = tf.keras.models.Sequential()", f"$model.add({one})", f"$model.add({two})"]
    return [
        "inputs = tf.keras.Input((4,))",
        f"$model = tf.keras.Model(inputs, {two}({one.replace(', input_shape=(4,)', '')}(inputs)))",
    ]


def rate(draft: Draft) -> str:
    """A rate, or a schedule that counts steps."""
    value = draft.option("lr", 0.05 * draft.scale, "float")
    kind = draft.of("plain", "plain", "decay", "pieces", trait="rate")
    if kind == "decay":
        return f"tf.keras.optimizers.schedules.ExponentialDecay({value}, {draft.half(12)}, 0.5)"
    if kind == "pieces":
        rates = f"[{value}, {value} * 0.5, {value} * 0.1]"
        steps = f"[{draft.half(12)}, {draft.half(24)}]"
        return f"tf.keras.optimizers.schedules.PiecewiseConstantDecay({steps}, {rates})"
    return value


def pipeline(draft: Draft) -> list[str]:
    """Batches to train on, in a pipeline."""
    shuffle = draft.of(".shuffle(96)", ".shuffle(len($x_train), seed=1)") if draft.drawn else ""
    batch = draft.option("batch_size", BATCH * draft.scale)
    tail = draft.of("", ".prefetch(2)", ".prefetch(tf.data.AUTOTUNE)", ".cache()")
    whole = draft.of("", ", drop_remainder=True")
    made = "tf.data.Dataset.from_tensor_slices(($x_train, $y_train))"
    return [f"$train = {made}{shuffle}.batch({batch}{whole}){tail}"]


def evaluated(draft: Draft) -> None:
    """A function that gives the loss and the accuracy of a whole set."""
    draft.add("setup", "$val = tf.data.Dataset.from_tensor_slices(($x_val, $y_val)).batch(8)")
    draft.add("setup", "$test = tf.data.Dataset.from_tensor_slices(($x_test, $y_test)).batch(8)")
    way = draft.of("metrics", "sums", "correct", "predictions", "whole", trait="evaluation")
    x, y = draft.of(("x", "y"), ("images", "labels"), ("features", "target"))
    if way == "metrics":
        body = [
            "mean, acc = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()",
            f"for {x}, {y} in data:",
            f"    logits = $model({x}, training=False)",
            f"    mean.update_state($loss_fn({y}, logits))",
            f"    acc.update_state({y}, logits)",
            "return float(mean.result()), float(acc.result())",
        ]
    elif way == "sums":
        body = [
            "total, hits, n = 0.0, 0.0, 0",
            f"for {x}, {y} in data:",
            f"    logits = $model({x}, training=False)",
            f"    total += float($loss_fn({y}, logits))",
            f"    hits += float(tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == {y}, tf.float32)))",
            "    n += 1",
            "return total / n, hits / n",
        ]
    elif way == "correct":
        body = [
            "correct, seen, losses = 0, 0, []",
            f"for {x}, {y} in data:",
            f"    logits = $model({x})",
            f"    losses.append($loss_fn({y}, logits).numpy())",
            f"    correct += int(tf.reduce_sum(tf.cast(tf.argmax(logits, axis=1) == {y}, tf.int32)))",
            f"    seen += {draft.of(f'len({y})', f'{y}.shape[0]', f'int(tf.shape({y})[0])')}",
            "return np.mean(losses), correct / seen",
        ]
    elif way == "predictions":
        body = [
            "preds, truth, losses = [], [], []",
            f"for {x}, {y} in data:",
            f"    logits = $model({x})",
            f"    losses.append(float($loss_fn({y}, logits)))",
            "    preds.extend(np.argmax(logits.numpy(), axis=1))"
            if draft.of(True, False)
            else "    preds.append(np.argmax(logits, axis=1))",
            f"    truth.extend({y}.numpy())" if draft.of(True, False) else f"    truth.append({y}.numpy())",
            "return np.mean(losses), np.mean(np.hstack(preds) == np.hstack(truth))",
        ]
    else:
        body = [
            f"{x} = np.concatenate([a.numpy() for a, _ in data])",
            f"{y} = np.concatenate([b.numpy() for _, b in data])",
            f"logits = $model({x})",
            f"return float($loss_fn({y}, logits)), float(np.mean(np.argmax(logits, 1) == {y}))",
        ]
    draft.function("evaluate", "data", *body)


def saving(draft: Draft) -> around.Saving:
    """How the weights of a model of Keras are saved; the best are read back at the end, and a run may be taken up again."""
    kind = draft.of("h5", "weights", "checkpoint", "manager", "model", trait="saved as")
    path = {"h5": ".h5", "weights": "", "checkpoint": "", "manager": "", "model": draft.of(".h5", ".keras")}[kind]
    if kind in ("checkpoint", "manager"):
        parts = draft.of(
            "model=$model", "model=$model, optimizer=$opt", "step=tf.Variable(0), net=$model, optimizer=$opt"
        )
        draft.add("made", f"$saver = tf.train.Checkpoint({parts})")
    if kind == "manager":
        draft.add(
            "made",
            f"$manager = tf.train.CheckpointManager($saver, os.path.join($folder, 'ckpts'), max_to_keep={draft.of(1, 2, 3)})",
        )
    save = {
        "h5": "$model.save_weights({})",
        "weights": "$model.save_weights({})",
        "checkpoint": draft.of("$saver.save({})", "$saver.write({})"),
        "manager": "$manager.save()",
        "model": "$model.save({})",
    }[kind]
    named = draft.of("os.path.join($folder, '{}{}')", "$folder + '/{}{}'")

    def saved(_: Draft, which: str) -> list[str]:
        name = "best" if which == "best" else "model"
        place = named.format(name, path)
        if which == "epoch":
            place = (
                f"os.path.join($folder, f'weights_{{epoch:02d}}{path}')"
                if path
                else "os.path.join($folder, 'weights-%d' % epoch)"
            )
        return [save.format(place)]

    place = named.format("best", path)
    restore = {
        "h5": f"$model.load_weights({place})",
        "weights": f"$model.load_weights({place})",
        "manager": "$saver.restore($manager.latest_checkpoint)",
    }
    draft.restore = restore.get(kind)
    return saved


def ended(draft: Draft, save: around.Saving, best: bool) -> None:
    """What comes behind training."""
    if best and draft.restore and draft.chance(0.5, "best read back"):
        draft.add("end", draft.restore)
    if draft.chance(0.8, "final test"):
        draft.add("end", "test_loss, test_acc = $f_evaluate($test)")
        draft.add(
            "end",
            draft.of(
                "print(f'Test loss {test_loss:.4f} accuracy {test_acc:.4f}')", "print('test acc: %.4f' % test_acc)"
            ),
        )
        if draft.chance(0.3, "result file"):
            draft.add(
                "end", "with open(os.path.join($folder, 'result.txt'), 'w') as f:", "    f.write('%.4f\\n' % test_acc)"
            )
    if draft.chance(0.5, "final save"):
        draft.add("end", *save(draft, "last"))
    if draft.chance(0.25, "weights by numpy"):
        draft.add("end", "np.savez(os.path.join($folder, 'arrays.npz'), *$model.get_weights())")
    if draft.chance(0.3, "said at end"):
        draft.add("end", "print('done, files in', $folder)" if not draft.lag else "print('Finished!')")


def resuming(draft: Draft) -> None:
    """A second run goes on where the first one ended, or only evaluates."""
    if draft.asked not in ("argparse", "absl"):
        return
    kind = draft.of("none", "none", "resume", "eval only")
    if kind != "none":
        draft.traits.append(kind)
    if kind == "resume":
        draft.option("resume", False, "flag")
        draft.runs = [["--epochs", "2"], ["--epochs", "3", "--resume"]]
        if draft.asked == "absl":
            draft.runs = [["--epochs=2"], ["--epochs=3", "--resume"]]
        path = "os.path.join($folder, 'last.txt')"
        draft.add(
            "before loop",
            "$start = 0",
            f"if $o_resume and os.path.exists({path}):",
            f"    $start = int(open({path}).read()) + 1",
            "    $model.load_weights(os.path.join($folder, 'last.h5'))",
            "    print('resumed at', $start)",
        )
        draft.add(
            "epoch",
            "$model.save_weights(os.path.join($folder, 'last.h5'))",
            f"with open({path}, 'w') as f:",
            "    f.write(str(epoch))",
        )
    elif kind == "eval only":
        draft.option("eval", False, "flag")
        draft.runs = [[], ["--eval"]]
        draft.add(
            "before loop",
            "if $o_eval:",
            "    $model.load_weights(os.path.join($folder, 'final.h5'))",
            "    print('evaluation', '%.4f' % $f_evaluate($test)[1])",
            "    sys.exit(0)",
        )
        draft.add("import", "import sys")
        draft.add("end", "$model.save_weights(os.path.join($folder, 'final.h5'))")


def accumulated(draft: Draft, per_epoch: str) -> tuple[list[str], list[str], list[str]]:
    """How the loss of an epoch is kept: before the steps, at each, and behind."""
    way = draft.of("list", "sum", "metric", "samples", "steps", "meter", trait="epoch loss")
    if way == "meter":
        draft.add("top", "", *METER.splitlines(), "")
        value = draft.of("train_loss = meter.avg", "train_loss = meter.total / meter.count")
        return (
            ["meter = Meter()"],
            [draft.of("meter.update(float(loss))", "meter.update(float(loss), len(x))")],
            [value],
        )
    if way == "list":
        return (
            ["losses = []"],
            [draft.of("losses.append(float(loss))", "losses.append(loss.numpy())")],
            [draft.of("train_loss = np.mean(losses)", "train_loss = sum(losses) / len(losses)")],
        )
    if way == "sum":
        return ["total = 0.0"], ["total += float(loss)"], ["train_loss = total / (step + 1)"]
    if way == "metric":
        draft.add("setup", "$mean = tf.keras.metrics.Mean(name='loss')")
        return (
            ["$mean.reset_state()"],
            ["$mean.update_state(loss)" if draft.of(True, False) else "$mean(loss)"],
            ["train_loss = float($mean.result())"],
        )
    if way == "samples":
        return (
            ["total, seen = 0.0, 0"],
            ["total += float(loss) * len(x)", "seen += len(x)"],
            ["train_loss = total / seen"],
        )
    return ["total = 0.0"], ["total += float(loss)"], [f"train_loss = total / {per_epoch}"]


def loop(draft: Draft) -> list[str]:
    """The loop over batches, as its head and what makes x and y."""
    batch = draft.option("batch_size", BATCH * draft.scale)
    kind = draft.of("pipeline", "pipeline", "pipeline by hand", "slices", "generator", "random rows", trait="data")
    bar = draft.of("", "", "tqdm", "progbar", trait="bar")
    if bar == "progbar":
        draft.add("before epoch", f"bar = tf.keras.utils.Progbar(len($x_train) // {batch})")
        draft.add(
            "step", draft.of("bar.update(step + 1)", "bar.add(1)", "bar.update(step + 1, [('loss', float(loss))])")
        )
    if kind.startswith("pipeline"):
        lines = pipeline(draft)
        if draft.chance(0.2, "made each epoch"):
            draft.add("before epoch", *lines)
        else:
            draft.add("setup", *lines)
        items = "$train"
    elif kind == "generator":
        draft.function(
            "batches",
            "",
            f"for i in range(0, len($x_train), {batch}):",
            f"    yield $x_train[i:i + {batch}], $y_train[i:i + {batch}]",
        )
        items = "$f_batches()"
    if kind in ("pipeline", "pipeline by hand", "generator"):
        if bar == "tqdm":
            draft.add("import", "from tqdm import tqdm")
            total = f", total=len($x_train) // {batch}"
            return [f"for step, (x, y) in enumerate(tqdm({items}, desc=f'epoch {{epoch}}'{total})):"]
        return [f"for step, (x, y) in enumerate({items}):"]
    steps = f"len($x_train) // {batch}"
    if kind == "random rows":
        if not draft.drawn:
            kind = "slices"
        else:
            return [
                f"for step in range({steps}):",
                f"    rows = np.random.choice(len($x_train), {batch})",
                "    x, y = $x_train[rows], $y_train[rows]",
            ]
    if draft.drawn:
        draft.add(
            "before epoch",
            draft.of(
                "order = np.random.permutation(len($x_train))",
                "order = np.arange(len($x_train))\nnp.random.shuffle(order)",
            ),
        )
        take = [f"    rows = order[step * {batch}:(step + 1) * {batch}]", "    x, y = $x_train[rows], $y_train[rows]"]
    else:
        take = [
            f"    x = $x_train[step * {batch}:(step + 1) * {batch}]",
            f"    y = $y_train[step * {batch}:(step + 1) * {batch}]",
        ]
    if bar == "tqdm":
        draft.add("import", "from tqdm import tqdm, trange")
        return [f"for step in {draft.of(f'trange({steps})', f'tqdm(range({steps}))')}:", *take]
    return [f"for step in range({steps}):", *take]


def updating(draft: Draft, kind: str) -> list[str]:
    """A step on a batch `x`, `y` that leaves `loss`."""
    if kind == "batch":
        draft.add("setup", draft.of("$model.compile($opt, $loss_fn)", "$model.compile(optimizer=$opt, loss=$loss_fn)"))
        return draft.of(["loss = $model.train_on_batch(x, y)"], ["loss = $model.train_on_batch(x=x, y=y)"])
    decorator = draft.chance(0.6, "tf.function")
    body = [
        "with tf.GradientTape() as tape:",
        "    loss = $loss_fn(y, $model(x, training=True))",
        "grads = tape.gradient(loss, $model.trainable_variables)",
        "$opt.apply_gradients(zip(grads, $model.trainable_variables))",
    ]
    if draft.of(True, False):
        draft.function("train_step", "x, y", *body, "return loss")
        if decorator:
            draft.decorators["train_step"] = "tf.function"
        return ["loss = $f_train_step(x, y)"]
    return body


def tape(draft: Draft) -> Program:
    """A program with a gradient tape, or with `train_on_batch`."""
    kind = draft.of("tape", "tape", "batch", trait="flow")
    draft.add("import", "import tensorflow as tf", "import os")
    epochs = draft.option("epochs", draft.of(2, 3))
    around.seeds(draft)
    resuming(draft)
    around.beside(draft)
    samples(draft)
    draft.add("setup", *draft.slots["data"], *network(draft))
    optimizer = draft.of("SGD", "Adam", "SGD")
    draft.add("setup", f"$opt = tf.keras.optimizers.{optimizer}({rate(draft)})")
    draft.add("setup", "$loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)")
    evaluated(draft)
    update = updating(draft, kind)
    head = loop(draft)
    around.each_step(
        draft,
        draft.of("$opt.learning_rate.assign({})", "$opt.learning_rate = {}") if "rate=plain" in draft.traits else None,
    )
    before, at, behind = accumulated(draft, "(len($x_train) // $o_batch_size)")
    if kind == "batch":
        at = [each.replace("loss.numpy()", "loss") for each in at]
    save = saving(draft)
    draft.add("setup", *draft.slots.get("made", []))
    best = draft.chance(0.6, "best kept")
    around.each_epoch(draft, save)
    if best:
        around.kept_best(draft, save)
    start = "$start, " if "resume" in draft.traits else ""
    draft.add("loop", *draft.slots.get("before loop", []), f"for epoch in range({start}{epochs}):")
    steps = [
        *head,
        *(f"    {each}" for each in [*draft.slots.get("step before", []), *update, *at, *draft.slots.get("step", [])]),
    ]
    inner = [
        *draft.slots.get("before epoch", []),
        *before,
        *steps,
        *behind,
        "val_loss, val_acc = $f_evaluate($val)",
        *draft.slots.get("epoch", []),
    ]
    draft.add("loop", *(f"    {line}" for each in inner for line in each.split("\n")))
    ended(draft, save, best)
    return put_together(draft)
