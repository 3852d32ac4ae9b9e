"""Ways to write the pass that trains and the one that evaluates."""

from __future__ import annotations

from horovod.torch.surroundings.chosen import Way, way

LOOP = "for $i, (x, y) in enumerate($loader):"
FORWARD = "out = $model(x)\nloss = $crit(out, y)\n"
STEPS = {
    "first": way(each=f"$opt.zero_grad()\n{FORWARD}loss.backward()\n$opt.step()"),
    "behind": way(each=f"{FORWARD}$opt.zero_grad(set_to_none=True)\nloss.backward()\n$opt.step()"),
    "moved": way(each=f"x, y = x.to($device), y.to($device)\n{FORWARD}$opt.zero_grad()\nloss.backward()\n$opt.step()"),
    "clip": way(
        each=f"$opt.zero_grad()\n{FORWARD}loss.backward()\n"
        "torch.nn.utils.clip_grad_norm_($model.parameters(), @clip)\n$opt.step()"
    ),
    "accumulate": way(
        before="$opt.zero_grad()",
        each=f"{FORWARD}(loss / @accum).backward()\nif ($i + 1) % @accum == 0:\n    $opt.step()\n    $opt.zero_grad()",
    ),
    "scaler": way(
        each=f"{FORWARD}$opt.zero_grad()\n$scaler.scale(loss).backward()\n$scaler.step($opt)\n$scaler.update()"
    ),
}


def _total(before: str, each: str, result: str, mean: str = "") -> Way:
    return way(before, each, results={"train_loss": result}, mean=mean or result)


TOTALS = {
    "batches": _total("$total = 0.0", "$total += loss.item()", "$total / len($loader)", "$total / ($i + 1)"),
    "samples": _total(
        "$total, $seen = 0.0, 0", "$total += loss.item() * x.size(0)\n$seen += x.size(0)", "$total / $seen"
    ),
    "of the set": _total(
        "$total, $seen = 0.0, 0",
        "$total += loss.item() * x.size(0)\n$seen += x.size(0)",
        "$total / len($loader.dataset)",
        "$total / $seen",
    ),
    "meter": _total("$meter = AverageMeter()", "$meter.update(loss.item(), x.size(0))", "$meter.avg"),
    "average": _total("$meter = Average()", "$meter.add(float(loss), len(x))", "$meter.mean"),
    "list": _total("$losses = []", "$losses.append(loss.item())", "sum($losses) / len($losses)", "np.mean($losses)"),
    "tensor": _total(
        "$total = torch.zeros(1)",
        "$total += loss.detach()",
        "($total / len($loader)).item()",
        "$total.item() / ($i + 1)",
    ),
    "dict": _total(
        '$stats = {"loss": 0.0, "n": 0}',
        '$stats["loss"] += loss.item() * len(y)\n$stats["n"] += len(y)',
        "$stats['loss'] / $stats['n']",
    ),
    "lists in a dict": _total(
        "$stats = defaultdict(list)",
        '$stats["loss"].append(loss.item())\n$stats["size"].append(len(y))',
        "float(np.average($stats['loss'], weights=$stats['size']))",
        "np.mean($stats['loss'])",
    ),
    "deque": _total(
        "$recent = deque(maxlen=100)\n$total, $n_batches = 0, 0",
        "$recent.append(loss.item())\n$total, $n_batches = $total + loss.item(), $n_batches + 1",
        "$total / $n_batches",
        "sum($recent) / len($recent)",
    ),
    "tracker": _total(
        '$tracker = MetricTracker("loss", "n")',
        '$tracker.update("loss", loss.item(), y.size(0))',
        "$tracker.avg('loss')",
    ),
    "tensors": _total("$kept = []", "$kept.append(loss.detach())", "torch.stack($kept).mean().item()"),
    "incremental": _total("$avg = 0.0", "$avg += (loss.item() - $avg) / ($i + 1)", "$avg"),
    "array": _total(
        "$all_losses = np.zeros(len($loader))",
        "$all_losses[$i] = loss.item()",
        "$all_losses.mean()",
        "$all_losses[: $i + 1].mean()",
    ),
}
SCORES = {
    "counts": way(
        "$correct, $shown = 0, 0",
        "$correct += (out.argmax(1) == y).sum().item()\n$shown += y.size(0)",
        results={"train_acc": "$correct / $shown"},
    ),
    "percent": way(
        "$correct = 0",
        "$correct += out.argmax(1).eq(y).sum().item()",
        results={"train_acc": "100.0 * $correct / len($loader.dataset)"},
    ),
    "meter": way(
        "$accs = AverageMeter()",
        "$accs.update((out.max(1)[1] == y).float().mean().item(), y.shape[0])",
        results={"train_acc": "$accs.avg"},
    ),
    "function": way("$right = 0.0", "$right += accuracy(out, y)", results={"train_acc": "$right / len($loader)"}),
}
SHOWN = {
    "print": way(each='if $i % @log_interval == 0:\n    print("step %d/%d loss %.4f" % ($i, len($loader), !mean))'),
    "mnist": way(
        each='if ($i + 1) % @log_interval == 0:\n    print("step: {} [{}/{} ({:.0f}%)]\\tLoss: {:.6f}".format('
        "\n        $epoch, $i * len(x), len($loader.dataset), 100. * $i / len($loader), loss.item()))"
    ),
    "tqdm": way(loop='for $i, (x, y) in enumerate(tqdm($loader, desc=f"epoch {$epoch}")):'),
    "postfix": way(
        "$bar = tqdm(enumerate($loader), total=len($loader), leave=False)",
        "$bar.set_postfix(loss=!mean)",
        loop="for $i, (x, y) in $bar:",
    ),
    "description": way(
        "$bar = tqdm(enumerate($loader), total=len($loader))",
        '$bar.set_description(f"loss {!mean:.4f}")',
        loop="for $i, (x, y) in $bar:",
    ),
    "bar": way("$bar = tqdm(total=len($loader.dataset))", "$bar.update(len(x))", "$bar.close()"),
    "bar of batches": way(
        "$bar = tqdm(total=len($loader), desc='train')",
        "$bar.update(1)\n$bar.set_postfix({'loss': '%.4f' % (!mean)})",
        "$bar.close()",
    ),
    "by the bar": way(each='if $i % @log_interval == 0:\n    tqdm.write("step %d loss %.4f" % ($i, !mean))'),
    "running": way(
        "$running = 0.0",
        "$running += loss.item()\nif $i % @log_interval == @log_interval - 1:\n"
        "    print(f'step [{$epoch + 1}, {$i + 1:5d}] loss: {$running / @log_interval:.3f}')\n    $running = 0.0",
    ),
    "tensorboard": way(each='$writer.add_scalar("train/loss", loss.item(), $step)'),
    "time left": way(
        "$began = time.time()",
        "if $i % @log_interval == 0:\n"
        '    print("step %s %d %.4f" % (time_since($began, ($i + 1) / len($loader)), $i, !mean))',
    ),
    "written": way(
        each='sys.stdout.write("\\rstep %d loss %.4f" % ($i, !mean))\nsys.stdout.flush()',
        after="sys.stdout.write('\\n')",
    ),
    "logger": way(each='if $i % @log_interval == 0:\n    $logger.info("step %d loss %.4f", $i, !mean)'),
    "times": way(
        "$end, $batch_time = time.time(), 0.0",
        "$batch_time += time.time() - $end\n$end = time.time()\nif $i % @log_interval == 0:\n"
        '    print("step [{0}/{1}] Time {2:.3f}s Loss {3:.4f}".format($i, len($loader), $batch_time / ($i + 1), !mean))',
    ),
    "the last": way(each='if $i == len($loader) - 1:\n    print("step last", $i, !mean)'),
    "halves": way(
        each='if ($i + 1) % max(1, len($loader) // 2) == 0:\n    print(f"step {$i + 1} of {len($loader)}: {!mean:.3f}")'
    ),
    "one line": way(each='print("step %d: %.4f" % ($i, !mean), end="\\r")', after="print()"),
    "samples": way("$n_samples = 0", "$n_samples += x.shape[0]", 'print("samples this epoch:", $n_samples)'),
    "the first": way(each='if $i == 0:\n    print("step first loss", loss.item())'),
    "finite": way(
        each="if not math.isfinite(loss.item()):\n"
        '    print("step Loss is {}, stopping training".format(loss.item()))\n    sys.exit(1)'
    ),
    "no number": way(each='if torch.isnan(loss):\n    raise ValueError("loss is nan")'),
    "dots": way(each="sys.stdout.write('.')", after="sys.stdout.write(' done\\n')"),
    "exponential": way(
        "$ema = None",
        "$ema = loss.item() if $ema is None else 0.9 * $ema + 0.1 * loss.item()\nif $i % @log_interval == 0:\n"
        '    print("step {} ema {:.3f}".format($i, $ema))',
    ),
}
WITHIN = {
    "evaluate": way(each="if $step % @eval_every == 0:\n    !evaluate_within"),
    "limit": way(each="if @max_batches and $i + 1 >= @max_batches:\n    break"),
    "schedule": way(each="$sched.step()"),
    "save": way(
        each='if $step % @save_every == 0:\n    torch.save($model.state_dict(), os.path.join($out, "latest.pt"))'
    ),
}


def _judged(before: str = "", each: str = "", after: str = "", **results: str) -> Way:
    return way(before, each, after, results=results)


JUDGED = {
    "batches": _judged("$blosses = 0.0", "$blosses += $crit(out, y).item()", val_loss="$blosses / len($loader)"),
    "confusion": _judged(
        "$extra = torch.zeros(3, 3, dtype=torch.int64)",
        "for t, p in zip(y.view(-1), out.argmax(1).view(-1)):\n    $extra[t.long(), p.long()] += 1",
        extra="$extra.tolist()",
    ),
    "classes": _judged(
        "$hits = [0] * 3\n$counts = [0] * 3",
        "for j in range(len(y)):\n    $counts[y[j].item()] += 1\n"
        "    $hits[y[j].item()] += int(out[j].argmax() == y[j])",
        extra="[h / max(n, 1) for h, n in zip($hits, $counts)]",
    ),
    "lists": _judged(
        "$preds, $labels = [], []",
        "$preds.extend(out.argmax(1).tolist())\n$labels += y.tolist()",
        val_acc="sum(p == t for p, t in zip($preds, $labels)) / len($labels)",
        extra="$preds",
    ),
    "tensors": _judged(
        "$preds, $labels = [], []",
        "$preds.append(out)\n$labels.append(y)",
        "$preds, $labels = torch.cat($preds), torch.cat($labels)",
        val_acc="($preds.argmax(1) == $labels).float().mean().item()",
        extra="len($labels)",
    ),
    "f1": _judged(
        "$tp = $fp = $fn = 0",
        "pred = out.argmax(1) == 1\n$tp += (pred & (y == 1)).sum().item()\n"
        "$fp += (pred & (y != 1)).sum().item()\n$fn += (~pred & (y == 1)).sum().item()",
        extra="2 * $tp / max(2 * $tp + $fp + $fn, 1)",
    ),
    "sklearn": _judged(
        "$preds, $labels = [], []",
        "$preds.append(out.argmax(1).cpu().numpy())\n$labels.append(y.cpu().numpy())",
        extra="f1_score(np.concatenate($labels), np.concatenate($preds), average='macro')",
    ),
    "counter": _judged(
        "$hits = Counter()", "$hits.update(y[out.argmax(1) == y].tolist())", extra="sorted($hits.items())"
    ),
    "perplexity": _judged(extra="math.exp($vtotal / len($loader.dataset))"),
    "second": _judged(
        "$top2 = 0",
        "$top2 += (out.topk(2, 1)[1] == y.view(-1, 1)).any(1).sum().item()",
        extra="$top2 / len($loader.dataset)",
    ),
    "wrong ones": _judged(
        "$wrong = []",
        "for p, t in zip(out.argmax(1), y):\n    if p != t:\n        $wrong.append((p.item(), t.item()))",
        extra="len($wrong)",
    ),
    "probabilities": _judged(
        "$probs = np.empty((0, 3))",
        "$probs = np.vstack([$probs, torch.softmax(out, 1).numpy()])",
        extra="$probs.mean(0).tolist()",
    ),
}
EVALUATES = way(
    "$model.eval()\n$vtotal, $vright = 0.0, 0",
    "out = $model(x)\n$vtotal += $crit(out, y).item() * x.size(0)\n$vright += out.argmax(dim=1).eq(y).sum().item()",
    results={"val_loss": "$vtotal / len($loader.dataset)", "val_acc": "$vright / len($loader.dataset)"},
)
OF_A_PASS = frozenset(
    "i total seen meter losses stats correct shown accs right bar running began vtotal vright extra hits counts preds labels "
    "recent n_batches tracker kept avg all_losses end batch_time n_samples ema tp fp fn top2 wrong probs blosses".split()
)
"""Names that live in one pass."""
