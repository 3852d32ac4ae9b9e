"""Sessions of TensorFlow 1, fed from arrays or by a pipeline in the graph."""

from __future__ import annotations

from horovod.surroundings import around, loops
from horovod.surroundings.writing import Draft, Program, put_together

BATCH = loops.BATCH


def graph(draft: Draft) -> None:
    """Placeholders, the model, the loss and the step."""
    draft.add(
        "setup",
        "$x_ph = tf.placeholder(tf.float32, [None, 4], name='x')",
        "$y_ph = tf.placeholder(tf.int64, [None], name='y')",
        "hidden = tf.layers.dense($x_ph, 8, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=1))",
        "logits = tf.layers.dense(hidden, 3, kernel_initializer=tf.glorot_uniform_initializer(seed=2))",
        "$loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=$y_ph, logits=logits))",
        "$acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), $y_ph), tf.float32))",
    )
    draft.roles.update(
        x_ph=draft.of("features", "x_ph", "inputs"),
        y_ph=draft.of("labels", "y_ph", "targets"),
        loss=draft.of("loss_op", "cost", "cross_entropy"),
        acc=draft.of("acc_op", "accuracy"),
        step_op=draft.of("train_op", "step_op", "optimize"),
    )
    value = draft.option("lr", 0.05 * draft.scale, "float")
    kind = draft.of("plain", "plain", "decay", trait="rate")
    counted = kind == "decay" or draft.chance(0.4, "global step")
    if counted:
        draft.add(
            "setup",
            draft.of(
                "$gs = tf.train.get_or_create_global_step()",
                "$gs = tf.Variable(0, trainable=False, name='global_step')",
            ),
        )
    if kind == "decay":
        value = f"tf.train.exponential_decay({value}, $gs, {draft.half(12)}, 0.5, staircase=True)"
    optimizer = draft.of("GradientDescentOptimizer", "AdamOptimizer")
    more = ", global_step=$gs" if counted else ""
    if draft.of(True, False):
        draft.add("setup", f"$step_op = tf.train.{optimizer}({value}).minimize($loss{more})")
    else:
        draft.add(
            "setup",
            f"$opt = tf.train.{optimizer}({value})",
            "gradients = $opt.compute_gradients($loss)",
            f"$step_op = $opt.apply_gradients(gradients{more})",
        )
    draft.counted = counted


def evaluated(draft: Draft) -> None:
    """A function that gives the loss and the accuracy of a whole set."""
    way = draft.of("whole", "batches", "samples", trait="evaluation")
    feed = "feed_dict={$x_ph: a, $y_ph: b}"
    if way == "whole":
        body = ["a, b = xs, ys", f"return $sess.run([$loss, $acc], {feed})"]
    elif way == "batches":
        body = [
            "losses, accs = [], []",
            "for i in range(0, len(xs), 8):",
            "    a, b = xs[i:i + 8], ys[i:i + 8]",
            f"    l, c = $sess.run([$loss, $acc], {feed})",
            "    losses.append(l)",
            "    accs.append(c)",
            "return np.mean(losses), np.mean(accs)",
        ]
    else:
        body = [
            "total, hits = 0.0, 0.0",
            "for i in range(len(xs) // 8):",
            "    a, b = xs[i * 8:(i + 1) * 8], ys[i * 8:(i + 1) * 8]",
            f"    l, c = $sess.run([$loss, $acc], {feed})",
            "    total += l * len(a)",
            "    hits += c * len(a)",
            "return total / len(xs), hits / len(xs)",
        ]
    draft.function("evaluate", "xs, ys", *body)


def stepped(draft: Draft) -> tuple[list[str], list[str], list[str]]:
    """The loop over batches: before it, its lines, and behind."""
    batch = draft.option("batch_size", BATCH * draft.scale)
    draft.add("import", "import numpy as np")
    run = draft.of(
        "_, loss = $sess.run([$step_op, $loss], feed_dict={$x_ph: x, $y_ph: y})",
        "_, loss = $sess.run([$step_op, $loss], {$x_ph: x, $y_ph: y})",
    )
    loss = draft.of(
        ["total = 0.0", "total += loss", "train_loss = total / (step + 1)"],
        ["losses = []", "losses.append(loss)", "train_loss = np.mean(losses)"],
        ["total = 0.0", "total += loss", "train_loss = total / $n_batches"],
    )
    draft.add("setup", f"$n_batches = len($x_train) // {batch}")
    bar = draft.of("", "", "tqdm", trait="bar")
    kind = draft.of("slices", "function", trait="data")
    before = [loss[0]]
    if bar:
        draft.add("import", "from tqdm import tqdm")
    if kind == "function":
        order = ["order = np.random.permutation(len(xs))"] if draft.drawn else ["order = np.arange(len(xs))"]
        draft.add(
            "top",
            "",
            "def batch_iter(xs, ys, size):",
            *(f"    {each}" for each in order),
            "    for i in range(0, len(xs), size):",
            "        yield xs[order[i:i + size]], ys[order[i:i + size]]",
            "",
        )
        items = f"batch_iter($x_train, $y_train, {batch})"
        items = f"tqdm({items}, total=$n_batches)" if bar else items
        lines = [f"for step, (x, y) in enumerate({items}):"]
    else:
        count = "tqdm(range($n_batches))" if bar else "range($n_batches)"
        lines = [f"for step in {count}:"]
        if draft.drawn:
            before.append("order = np.random.permutation(len($x_train))")
            lines += [
                f"    rows = order[step * {batch}:(step + 1) * {batch}]",
                "    x, y = $x_train[rows], $y_train[rows]",
            ]
        else:
            lines += [
                f"    x, y = $x_train[step * {batch}:(step + 1) * {batch}], $y_train[step * {batch}:(step + 1) * {batch}]"
            ]
    lines += [f"    {run}", f"    {loss[1]}", *(f"    {each}" for each in draft.slots.get("step", []))]
    return before, lines, [loss[2]]


def saving(draft: Draft) -> around.Saving:
    """How a Saver saves."""
    most = draft.of("", "max_to_keep=2", "max_to_keep=1")
    draft.add("made", f"$saver = tf.train.Saver({most})")

    def saved(_: Draft, which: str) -> list[str]:
        if which == "epoch":
            return ["$saver.save($sess, os.path.join($folder, 'model'), global_step=epoch)"]
        return [f"{'$best_saver' if which == 'best' else '$saver'}.save($sess, os.path.join($folder, '{which}.ckpt'))"]

    draft.add("made", "$best_saver = tf.train.Saver()")
    draft.restore = "$best_saver.restore($sess, os.path.join($folder, 'best.ckpt'))"
    return saved


def board(draft: Draft) -> None:
    """Event files of TensorFlow 1."""
    if not draft.chance(0.45, "FileWriter"):
        return
    graph_given = draft.of(", $sess.graph", "")
    draft.add("started", f"$writer = tf.summary.FileWriter(os.path.join($folder, 'logs'){graph_given})")
    if draft.of(True, False):
        lines = [
            "summary = tf.Summary(value=[tf.Summary.Value(tag='train_loss', simple_value=float(train_loss))])",
            "$writer.add_summary(summary, epoch)",
        ]
    else:
        draft.add("made", "tf.summary.scalar('held_out', $loss)", "$merged = tf.summary.merge_all()")
        lines = [
            "summary = $sess.run($merged, feed_dict={$x_ph: $x_val, $y_ph: $y_val})",
            "$writer.add_summary(summary, epoch)",
        ]
    flushed, closed = draft.of(False, True), draft.of(True, False)
    draft.add("epoch", *lines, *(["$writer.flush()"] if flushed else []))
    if closed or not flushed:  # else what is written depends on when the process ends
        draft.add("end", "$writer.close()")


def resuming(draft: Draft) -> None:
    """A second run restores what the first one saved last, or only evaluates."""
    kind = draft.of("none", "none", "resume", "eval only") if draft.asked in ("argparse", "absl") else "none"
    if kind == "none":
        return
    draft.traits.append(kind)
    first, second = (["--epochs=2"], ["--epochs=3", "--resume"]) if kind == "resume" else ([], ["--eval"])
    draft.runs = [first, second]
    draft.option("resume" if kind == "resume" else "eval", False, "flag")
    if kind == "eval only":
        draft.add("import", "import sys")


def taken_up(draft: Draft) -> None:
    if "resume" in draft.traits:
        draft.add(
            "started",
            "$start = 0",
            "if $o_resume:",
            "    found = tf.train.latest_checkpoint(os.path.join($folder, 'last'))",
            "    if found:",
            "        $keep.restore($sess, found)",
            "        $start = int(found.split('-')[-1]) + 1",
            "        print('restored epoch', $start)",
        )
        draft.add(
            "made", "$keep = tf.train.Saver(max_to_keep=1)", "os.makedirs(os.path.join($folder, 'last'), exist_ok=True)"
        )
        draft.add("epoch", "$keep.save($sess, os.path.join($folder, 'last', 'm'), global_step=epoch)")
    if "eval only" in draft.traits:
        draft.add("made", "$keep = tf.train.Saver()")
        draft.add(
            "started",
            "if $o_eval:",
            "    $keep.restore($sess, os.path.join($folder, 'final.ckpt'))",
            "    print('evaluation %.4f' % $f_evaluate($x_test, $y_test)[1])",
            "    sys.exit(0)",
        )
        draft.add("end", "$keep.save($sess, os.path.join($folder, 'final.ckpt'))")


def ended(draft: Draft, save: around.Saving, best: bool) -> None:
    """What comes behind the epochs."""
    if best and draft.chance(0.5, "best read back"):
        draft.add("end", draft.restore or "")
    if draft.chance(0.8, "final test"):
        draft.add(
            "end",
            "test_loss, test_acc = $f_evaluate($x_test, $y_test)",
            "print('test %.4f %.4f' % (test_loss, test_acc))",
        )
    if draft.chance(0.4, "final save"):
        draft.add("end", *save(draft, "last"))


def session(draft: Draft) -> Program:
    """A program with a session."""
    draft.traits += ["flow=session", "tf1"]
    draft.add("import", "import tensorflow.compat.v1 as tf", "import os")
    draft.add("top", draft.of("tf.disable_eager_execution()", "tf.disable_v2_behavior()"))
    epochs = draft.option("epochs", draft.of(2, 3))
    if draft.chance(0.4, "seeds"):
        seed = draft.option("seed", 5)
        draft.add(
            "setup", *draft.of([f"tf.set_random_seed({seed})", f"np.random.seed({seed})"], [f"np.random.seed({seed})"])
        )
    resuming(draft)
    around.beside(draft)
    loops.samples(draft)
    draft.add("setup", *draft.slots["data"])
    graph(draft)
    evaluated(draft)
    around.each_step(draft)
    if draft.counted and draft.chance(0.4, "global step told"):
        draft.add("end", "print('global step', $sess.run($gs))")
    before, steps, behind = stepped(draft)
    save = saving(draft)
    best = draft.chance(0.6, "best kept")
    around.each_epoch(draft, save)
    if best:
        around.kept_best(draft, save)
    board(draft)
    taken_up(draft)
    with_block = draft.layout != "class" and draft.of(True, False)
    draft.add("setup", *draft.slots.get("made", []))
    start = "$start, " if "resume" in draft.traits else ""
    inner = [
        *draft.slots.get("before epoch", []),
        *before,
        *steps,
        *behind,
        "val_loss, val_acc = $f_evaluate($x_val, $y_val)",
        *draft.slots.get("epoch", []),
    ]
    main = [
        "$sess.run(tf.global_variables_initializer())",
        *draft.slots.get("started", []),
        f"for epoch in range({start}{epochs}):",
        *(f"    {line}" for each in inner for line in each.split("\n")),
    ]
    ended(draft, save, best)
    end = draft.slots.pop("end", [])
    if with_block:
        draft.add("loop", "with tf.Session() as $sess:", *(f"    {each}" for each in [*main, *end]))
    else:
        draft.add("loop", "$sess = tf.Session()", *main, *end, "$sess.close()")
    return put_together(draft)
