"""Ways to keep logs of epochs, and to end a program."""

from __future__ import annotations

from horovod.torch.surroundings.chosen import way

LOGS = {
    "csv": way(
        '$log = open(os.path.join($out, "log.csv"), "w", newline="")\n$table = csv.writer($log)\n'
        '$table.writerow(["epoch", "train", "val", "acc"])',
        "$table.writerow([$epoch, train_loss, val_loss, val_acc])\n$log.flush()",
        "$log.close()",
    ),
    "append": way(
        each='with open(os.path.join($out, "log.txt"), "a") as f:\n'
        '    f.write("{}\\t{:.4f}\\t{:.4f}\\n".format($epoch, train_loss, val_acc))'
    ),
    "history": way(
        '$history = {"train": [], "val": [], "acc": []}',
        "$history['train'].append(train_loss)\n$history['val'].append(val_loss)\n$history['acc'].append(val_acc)",
        'with open(os.path.join($out, "history.json"), "w") as f:\n    json.dump($history, f)',
    ),
    "json": way(
        "$history = []",
        '$history.append({"epoch": $epoch, "train": train_loss, "val": val_loss})\n'
        'with open(os.path.join($out, "metrics.json"), "w") as f:\n    json.dump($history, f, indent=1)',
    ),
    "lists": way(
        "$train_losses, $val_losses = [], []",
        "$train_losses.append(train_loss)\n$val_losses.append(val_loss)",
        'np.save(os.path.join($out, "losses.npy"), np.array([$train_losses, $val_losses]))',
    ),
    "figure": way(
        "$train_losses, $val_losses = [], []",
        "$train_losses.append(train_loss)\n$val_losses.append(val_loss)",
        'plot_curves($train_losses, os.path.join($out, "loss.png"))\nprint("min val", min($val_losses, default=0))',
    ),
    "logger": way(each='$logger.info("Epoch %d train %.4f val %.4f", $epoch, train_loss, val_loss)'),
    "pandas": way(
        "$rows = []",
        "$rows.append({'epoch': $epoch, 'train': train_loss, 'val': val_loss})\n"
        "pd.DataFrame($rows).to_csv(os.path.join($out, 'log.csv'), index=False)",
    ),
    "dicts": way(
        "with open(os.path.join($out, 'm.csv'), 'w') as f:\n"
        "    csv.DictWriter(f, fieldnames=['epoch', 'train', 'acc']).writeheader()",
        "with open(os.path.join($out, 'm.csv'), 'a') as f:\n"
        "    w = csv.DictWriter(f, fieldnames=['epoch', 'train', 'acc'])\n"
        "    w.writerow({'epoch': $epoch, 'train': train_loss, 'acc': val_acc})",
    ),
    "json lines": way(
        each="with (Path($out) / 'log.jsonl').open('a') as f:\n"
        "    f.write(json.dumps({'epoch': $epoch, 'loss': train_loss}) + '\\n')"
    ),
    "printed": way(
        "$log_file = open(os.path.join($out, 'log.txt'), 'w')",
        "print('%d %.4f %.4f' % ($epoch, train_loss, val_loss), file=$log_file)",
        "$log_file.close()",
    ),
    "pickle": way(
        "$hist = {'loss': [], 'acc': []}",
        "$hist['loss'] += [val_loss]\n$hist['acc'] += [val_acc]",
        "with open(os.path.join($out, 'hist.pickle'), 'wb') as f:\n    pickle.dump(sorted($hist), f)",
    ),
    "text": way("$said = ''", "$said += f'{$epoch} {train_loss:.4f}\\n'\n(Path($out) / 'log.txt').write_text($said)"),
    "array": way(
        "$curve = np.zeros((@epochs, 2))",
        "$curve[$epoch] = train_loss, val_loss",
        "np.savetxt(os.path.join($out, 'curve.txt'), $curve)",
    ),
    "drawn": way(
        "$tl, $vl = [], []",
        "$tl.append(train_loss)\n$vl.append(val_loss)\nplt.clf()\nplt.plot($tl)\nplt.plot($vl)\n"
        "plt.savefig(os.path.join($out, 'curve.png'))",
    ),
    "read back": way(
        each="log_path = os.path.join($out, 'all.json')\n"
        "entries = json.load(open(log_path)) if os.path.exists(log_path) else []\n"
        "entries.append({'epoch': $epoch, 'loss': train_loss})\nwith open(log_path, 'w') as f:\n"
        "    json.dump(entries, f)"
    ),
    "standard": way(
        "logging.basicConfig(filename=os.path.join($out, 'run.log'), level=logging.INFO, format='%(message)s')",
        "logging.info('Epoch: %d Loss: %.4f', $epoch, train_loss)",
    ),
}
ENDS = {
    "print": way(after='!test\nprint("Test loss {:.4f}, accuracy {:.4f}".format(test_loss, test_acc))'),
    "json": way(
        after='!test\njson.dump({"loss": test_loss, "acc": test_acc}, open(os.path.join($out, "test.json"), "w"))'
    ),
    "text": way(
        after='!test\nf = open(os.path.join($out, "result.txt"), "a+")\nf.write("test acc: %.4f\\n" % test_acc)\nf.close()'
    ),
    "samples": way(
        after='os.makedirs(os.path.join($out, "preds"), exist_ok=True)\nwith torch.no_grad():\n'
        "    for k, (x, y) in enumerate($test):\n        for j, p in enumerate($model(x).argmax(1)):\n"
        '            with open(os.path.join($out, "preds", "%d_%d.txt" % (k, j)), "w") as f:\n'
        '                f.write(f"{p.item()} {y[j].item()}\\n")'
    ),
    "weights": way(after="torch.save($model.state_dict(), os.path.join($out, 'final.pt'))\nprint('Done!')"),
    "whole": way(after="torch.save($model, os.path.join($out, 'final.bin'))"),
    "scripted": way(after="$model.eval()\ntorch.jit.script($model).save(os.path.join($out, 'scripted.jit'))"),
    "predictions": way(
        after="$model.eval()\nwith open(os.path.join($out, 'submission.csv'), 'w') as f, torch.no_grad():\n"
        "    f.write('id,label\\n')\n    n = 0\n    for x, _ in $test:\n        for p in $model(x).argmax(1).tolist():\n"
        "            f.write(f'{n},{p}\\n')\n            n += 1\nprint('wrote', n, 'predictions')"
    ),
    "classes": way(
        after="hits, sizes = defaultdict(int), defaultdict(int)\nwith torch.no_grad():\n    for x, y in $test:\n"
        "        for t, p in zip(y.tolist(), $model(x).argmax(1).tolist()):\n            sizes[t] += 1\n"
        "            hits[t] += t == p\nfor k in sorted(sizes):\n"
        "    print('Accuracy of class %d: %.1f %%' % (k, 100 * hits[k] / sizes[k]))"
    ),
    "marker": way(after="open(os.path.join($out, 'DONE'), 'w').close()"),
    "clock": way("$t0 = time.time()", after="print('took {:.1f}s'.format(time.time() - $t0))"),
    "outputs": way(
        after="with torch.no_grad():\n    outs = torch.cat([$model(x) for x, _ in $test])\n"
        "torch.save(outs, os.path.join($out, 'outputs.pt'))\nprint(tuple(outs.shape))"
    ),
}
