"""What stands around a training loop of a program's own: files, progress, evaluations and decisions, as people write them.

Each piece is written for an epoch that leaves `epoch`, `train_loss`, `val_loss` and `val_acc`, or for a step that leaves `step`
and `loss`. A flow says how weights are saved and restored.
"""

from __future__ import annotations

from collections.abc import Callable

from horovod.surroundings.writing import Draft

Saving = Callable[[Draft, str], list[str]]


def seeds(draft: Draft) -> None:
    """Seeds, where a program sets any."""
    if draft.chance(0.4, "seeds"):
        seed = draft.option("seed", 5)
        draft.add(
            "setup",
            *draft.of(
                [f"tf.random.set_seed({seed})", f"np.random.seed({seed})"],
                [f"np.random.seed({seed})"],
                [f"tf.keras.utils.set_random_seed({seed})"],
            ),
        )


def beside(draft: Draft) -> None:
    """The folder of a program, and what it writes there before it trains."""
    folders(draft)
    if draft.chance(0.3, "options dumped"):
        dumped(draft)
    if draft.chance(0.3, "vocabulary"):
        vocabulary(draft)


def folders(draft: Draft) -> None:
    """Where files go: the folder at hand, or one that the program makes."""
    kind = draft.of("here", "exist_ok", "if_missing", "gfile", "pathlib", "removed", "by_time", trait="folder")
    made = {
        "here": ["$folder = '.'"],
        "exist_ok": ["$folder = 'results'", "os.makedirs($folder, exist_ok=True)"],
        "if_missing": [
            "$folder = os.path.join('work', 'models')",
            "if not os.path.exists($folder):",
            "    os.makedirs($folder)",
        ],
        "gfile": ["$folder = './saved'", "if not tf.io.gfile.exists($folder):", "    tf.io.gfile.makedirs($folder)"],
        "pathlib": ["$folder = str(Path('outputs') / 'a')", "Path($folder).mkdir(parents=True, exist_ok=True)"],
        "removed": [
            "$folder = 'run'",
            *(["if os.path.isdir($folder):", "    shutil.rmtree($folder)"] if not resumed(draft) else []),
            "os.makedirs($folder, exist_ok=True)",
        ],
        "by_time": [
            draft.of(
                "$folder = os.path.join('runs', datetime.now().strftime('%Y%m%d-%H%M%S'))",
                "$folder = 'runs/' + time.strftime('%Y-%m-%d_%H-%M-%S')",
                "$folder = os.path.join('runs', str(int(time.time())))",
            ),
            "os.makedirs($folder)",
        ],
    }
    draft.add("import", "import os")
    if kind == "by_time" and resumed(draft):
        kind = "exist_ok"
    extra = {"pathlib": "from pathlib import Path", "removed": "import shutil", "by_time": "import time"}
    if kind in extra:
        draft.add("import", extra[kind])
    if kind == "by_time":
        draft.add("import", "from datetime import datetime")
        draft.lag = True
    draft.add("setup", *made[kind])


def resumed(draft: Draft) -> bool:
    """Whether the program is taken up again in a second run."""
    return "resume" in draft.traits or "eval only" in draft.traits


def kept_best(draft: Draft, save: Saving) -> None:
    """The best of the epochs is saved; a score that does not rise any more ends training or lowers the rate."""
    by = draft.of("val_acc", "val_loss", trait="best by")
    first, sign = ("0.0", ">") if by == "val_acc" else (draft.of("float('inf')", "1e9", "np.inf"), "<")
    draft.add("setup", f"$best = {first}")
    patience = draft.chance(0.5, "patience")
    told = draft.of(
        f'print(f"epoch {{epoch}}: best {{{by}:.4f}}, saved")',
        f'print("saved model with {by}", round(float({by}), 4))',
        f"print('improved from %.4f to %.4f' % ($best, {by}))",
        "",
    )
    lines = [f"if {by} {sign} $best:"]
    inner = [told] if told and "improved" in told else []
    inner += [f"$best = {by}", *save(draft, "best")] + ([told] if told and "improved" not in told else [])
    if patience:
        inner.append("$wait = 0")
    lines += [f"    {each}" for each in inner]
    if patience:
        draft.add("setup", "$wait = 0")
        limit = draft.option("patience", draft.of(1, 2))
        stop = draft.of("print('early stopping at', epoch)", "print('stop')")
        end = ["$wait += 1", f"if $wait >= {limit}:", f"    {stop}", "    break"]
        lines += ["else:", *(f"    {each}" for each in end)]
    draft.add("epoch", *lines)
    if draft.chance(0.4, "best told at end"):
        draft.add("end", draft.of("print('best: %.4f' % $best)", 'print("Best value {:.4f}".format($best))'))


def each_epoch(draft: Draft, save: Saving) -> None:
    """What is written and told once an epoch."""
    draft.add("epoch", *told_epoch(draft))
    for share, piece in (
        (0.45, table),
        (0.35, history),
        (0.3, summaries),
        (0.25, logged),
        (0.3, dated),
    ):
        if draft.chance(share, piece.__name__):
            if piece is dated:
                dated(draft, save)
            else:
                piece(draft)  # type: ignore[operator]


def told_epoch(draft: Draft) -> list[str]:
    """The line of an epoch."""
    epochs = "$o_epochs"
    ways = [
        f'print(f"Epoch {{epoch + 1}}/{{{epochs}}} loss {{train_loss:.4f}} val {{val_loss:.4f}} acc {{val_acc:.4f}}")',
        "print('[%d] train %.4f, valid %.4f, accuracy %.4f' % (epoch, train_loss, val_loss, val_acc))",
        (
            'template = "Epoch {}, Loss: {:.4f}, Val Loss: {:.4f}, Val Accuracy: {:.2f}"\n'
            "print(template.format(epoch + 1, train_loss, val_loss, val_acc * 100))"
        ),
        "print('epoch', epoch, 'loss', round(float(train_loss), 4), 'acc', round(float(val_acc), 4))",
    ]
    timed = draft.chance(0.35, "timer")
    lines = draft.of(*ways).split("\n")
    if timed:
        draft.add("import", "import time")
        draft.add("before epoch", "$began = time.time()")
        lines.append(
            draft.of(
                "print('took %.2fs' % (time.time() - $began))",
                'print(f"time: {time.time() - $began:.1f}s")',
                'print("{:.2f}s per epoch".format(time.time() - $began))',
            )
        )
    return lines


def table(draft: Draft) -> None:
    """A line of a table."""
    kind = draft.of("append", "kept open", "csv", "csv at end", trait="table")
    path = "os.path.join($folder, 'log.csv')"
    if kind == "append":
        draft.add(
            "epoch", f"with open({path}, 'a') as f:", "    f.write('%d,%.4f,%.4f\\n' % (epoch, train_loss, val_loss))"
        )
    elif kind == "kept open":
        draft.add("setup", f"$csv = open({path}, 'w')", "$csv.write('epoch,loss,acc\\n')")
        draft.add("epoch", "$csv.write(f'{epoch},{train_loss:.4f},{val_acc:.4f}\\n')", draft.of("$csv.flush()", "pass"))
        draft.add("end", "$csv.close()")
    elif kind == "csv":
        draft.add("import", "import csv")
        draft.add("setup", f"with open({path}, 'w', newline='') as f:", "    csv.writer(f).writerow(['epoch', 'loss'])")
        draft.add(
            "epoch",
            f"with open({path}, 'a', newline='') as f:",
            "    csv.writer(f).writerow([epoch, round(float(train_loss), 4)])",
        )
    else:
        draft.add("import", "import csv")
        draft.add("setup", "$csv = []")
        draft.add("epoch", "$csv.append([epoch, round(float(val_loss), 4)])")
        draft.add(
            "end",
            f"with open({path}, 'w') as f:",
            "    w = csv.writer(f)",
            "    w.writerow(['epoch', 'val'])",
            "    w.writerows($csv)",
        )


def history(draft: Draft) -> None:
    """Values kept in a list or a dict and written at the end, as numbers or as a picture."""
    if draft.of(True, False):
        draft.add("setup", "$history = {'loss': [], 'val': []}")
        draft.add("epoch", "$history['loss'].append(float(train_loss))", "$history['val'].append(float(val_loss))")
        values = "$history['loss']"
    else:
        draft.add("setup", "$history = []")
        draft.add("epoch", "$history.append(float(train_loss))")
        values = "$history"
    kind = draft.of("json", "pickle", "npy", "picture", "picture by function", trait="history as")
    if kind == "json":
        draft.add("import", "import json")
        draft.add("end", "with open(os.path.join($folder, 'history.json'), 'w') as f:", "    json.dump($history, f)")
    elif kind == "pickle":
        draft.add("import", "import pickle")
        draft.add("end", "with open(os.path.join($folder, 'history.pkl'), 'wb') as f:", "    pickle.dump($history, f)")
    elif kind == "npy":
        draft.add(
            "end",
            draft.of(
                f"np.save(os.path.join($folder, 'losses.npy'), np.array({values}))",
                f"np.savetxt(os.path.join($folder, 'losses.txt'), {values}, fmt='%.4f')",
            ),
        )
    else:
        draft.add("import", "import matplotlib", "import matplotlib.pyplot as plt")
        draft.add("top", "matplotlib.use('Agg')")
        drawn = ["plt.figure()", "plt.plot({0})", "plt.title('loss')", "plt.savefig({1})", "plt.close()"]
        path = "os.path.join($folder, 'loss.png')"
        if kind == "picture":
            draft.add("end", *(each.format(values, path) for each in drawn))
        else:
            body = "\n".join(
                ["def plot_losses(values, path):", *(f"    {each.format('values', 'path')}" for each in drawn)]
            )
            draft.modules["plots.py"] = f"import matplotlib.pyplot as plt\n\n\n{body}\n"
            draft.add("end", f"plot_losses({values}, {path})")


def summaries(draft: Draft) -> None:
    """Event files of TensorFlow 2."""
    if "tf1" in draft.traits:
        return
    where = "os.path.join($folder, 'tb')"
    draft.add("setup", f"$writer = tf.summary.create_file_writer({where})")
    lines = [
        "with $writer.as_default():",
        "    tf.summary.scalar('train_loss', train_loss, step=epoch)",
        "    tf.summary.scalar('val', val_loss, step=epoch)",
    ]
    draft.add("epoch", *lines, *(["$writer.flush()"] if draft.of(True, False) else []))


def logged(draft: Draft) -> None:
    """The module logging, into a file."""
    draft.add("import", "import logging")
    if draft.of(True, False):
        draft.add(
            "setup",
            "where = os.path.join($folder, 'train.log')",
            "logging.basicConfig(filename=where, level=logging.INFO, format='%(message)s', force=True)",
        )
        draft.add("epoch", "logging.info('epoch %d loss %.4f', epoch, train_loss)")
    else:
        draft.roles["logger"] = "logger"
        draft.add(
            "setup",
            "$logger = logging.getLogger('own')",
            "$logger.setLevel(logging.INFO)",
            "$logger.addHandler(logging.FileHandler(os.path.join($folder, 'run.log')))",
        )
        draft.add("epoch", "$logger.info(f'epoch {epoch} accuracy {val_acc:.4f}')")


def dated(draft: Draft, save: Saving) -> None:
    """Weights of each epoch, by its number; older ones may be removed."""
    kind = draft.of("each", "every", "removed", trait="dated")
    if kind == "every":
        every = draft.option("save_every", 2)
        draft.add("epoch", f"if (epoch + 1) % {every} == 0:", *(f"    {each}" for each in save(draft, "epoch")))
    elif kind == "removed":
        draft.add("epoch", "np.save(os.path.join($folder, 'loss-%d.npy' % epoch), [train_loss, val_loss])")
        draft.add("epoch", "older = os.path.join($folder, 'loss-%d.npy' % (epoch - 1))")
        draft.add(
            "epoch",
            *draft.of(["if os.path.exists(older):", "    os.remove(older)"], ["if epoch > 0:", "    os.remove(older)"]),
        )
    else:
        draft.add("epoch", *save(draft, "epoch"))


def each_step(draft: Draft, rate: str | None = None) -> None:
    """What is told of steps, and done by their number; `rate` sets the rate of an optimizer."""
    kinds = ("none", "every", "count", "samples", "limit", *(("warm-up",) if rate else ()))
    kind = draft.of(*kinds, trait="steps")
    if kind == "every":
        every = draft.option("log_every", 3)
        draft.add(
            "step",
            f"if step % {every} == 0:",
            draft.of("    print('  step', step)", '    print(f"  batch {step} of epoch {epoch}")'),
        )
    elif kind == "samples":
        draft.add("setup", "$seen = 0")
        draft.add("step", draft.of("$seen += len(x)", "$seen += x.shape[0]", "$seen = $seen + len(y)"))
        draft.add("end", draft.of("print('samples seen:', $seen)", 'print(f"{$seen} images")'))
    elif kind != "none":
        draft.add("setup", "$count = 0")
        if kind == "warm-up":
            most = draft.option("warmup", draft.half(8))
            draft.add("step before", f"if $count < {most}:", f"    {rate!s}".format(f"$o_lr * ($count + 1) / {most}"))
        draft.add("step", "$count += 1")
        if kind == "limit":
            most = draft.option("max_steps", draft.half(20))
            draft.add("step", f"if $count >= {most}:", "    break")
            draft.add(
                "epoch", f"if $count >= {most}:", *draft.of(["    print('limit of steps')", "    break"], ["    break"])
            )
        else:
            draft.add("end", draft.of("print('total steps', $count)", 'print(f"{$count} updates")'))


def vocabulary(draft: Draft) -> None:
    """A list of words that is written through a function of another module, and read back."""
    draft.add("import", "import os")
    way = draft.of("text", "json", trait="vocabulary")
    head = "import json\n\n\n" if way == "json" else ""
    put = "json.dump(words, f)" if way == "json" else 'f.write("\\n".join(words))'
    get = "json.load(f)" if way == "json" else "f.read().split()"
    draft.modules["vocab.py"] = (
        f'{head}def write_words(path, words):\n    with open(path, "w") as f:\n        {put}\n\n\n'
        f"def read_words(path):\n    with open(path) as f:\n        return {get}\n"
    )
    draft.roles["words"] = "words"
    path = draft.of("'vocab.txt'", "os.path.join($folder, 'words')")
    made = [f"write_words({path}, sorted(set('a b c a b'.split())))"]
    if draft.of(True, False):
        made = [f"if not os.path.exists({path}):", *(f"    {each}" for each in made)]
    draft.add("setup", *made, f"$words = read_words({path})", "print('vocabulary of', len($words))")


def dumped(draft: Draft) -> None:
    """Options written to a file."""
    if draft.asked != "argparse":
        return
    draft.add("import", "import json")
    draft.add(
        "setup",
        "with open(os.path.join($folder, 'args.json'), 'w') as f:",
        f"    json.dump(vars({draft.roles['args']}), f, indent=2)",
    )
    draft.loose.append("args.json")
