"""Ways to make data, models and folders, to keep what an epoch gives, and to end."""

from __future__ import annotations

from horovod.torch.surroundings.chosen import way

_BOUNDS = (("train_set", 0, 64), ("val_set", 64, 104), ("test_set", 104, 144))
_DRAWN = """g = torch.Generator().manual_seed(7)
xs = torch.randn(144, 6, generator=g)
ys = (xs @ torch.randn(6, 3, generator=g) * (1 + xs[:, :1].abs())).argmax(1)
"""
_ARRAYS = """rs = np.random.RandomState(5)
a = rs.randn(144, 6).astype('float32')
b = (a @ rs.randn(6, 3) * (1 + abs(a[:, :1]))).argmax(1)
"""
_TENSORS = "a, b = torch.from_numpy(a), torch.from_numpy(b)\n"
_LINES = 'lines = open("words.txt").readlines()\n'


def _sets(text: str) -> str:
    return "\n".join(f"{name} = {text.format(first=first, last=last)}" for name, first, last in _BOUNDS)


def _indented(text: str) -> str:
    return "".join(f"    {each}\n" for each in text.splitlines())


_TEXTS = _sets("TextSet(lines[{first}:{last}], vocab)") + '\nprint("vocabulary", len(vocab))'
DATA = {
    "tensors": _DRAWN + _sets("TensorDataset(xs[{first}:{last}], ys[{first}:{last}])"),
    "split": _DRAWN + "train_set, val_set, test_set = random_split(TensorDataset(xs, ys), [64, 40, 40],"
    " generator=torch.Generator().manual_seed(3))",
    "subset": _DRAWN + "full = TensorDataset(xs, ys)\n" + _sets("Subset(full, range({first}, {last}))"),
    "table": _sets('CsvSet("data.csv", {first}, {last})'),
    "text": f'{_LINES}vocab = build_vocab(lines[:64], "vocab.pkl")\n{_TEXTS}',
    "words": _LINES
    + 'if not os.path.isfile("vocab.json"):\n'
    + '    words = sorted({w for l in lines[:64] for w in l.rstrip().split("\\t")[1].split()})\n'
    + '    with open("vocab.json", "w") as f:\n'
    + "        json.dump({w: i + 1 for i, w in enumerate(words)}, f)\n"
    + 'vocab = {"<unk>": 0, **json.load(open("vocab.json"))}\n'
    + _TEXTS,
    "arrays": _ARRAYS + _TENSORS + _sets("TensorDataset(a[{first}:{last}], b[{first}:{last}])"),
    "cached": 'if os.path.exists("cache.npz"):\n    z = np.load("cache.npz")\n    a, b = z["a"], z["b"]\nelse:\n'
    + _indented(_ARRAYS + 'np.savez("cache.npz", a=a, b=b)')
    + _TENSORS
    + _sets("TensorDataset(a[{first}:{last}], b[{first}:{last}])"),
}
LOADERS = """$loader = DataLoader(train_set, batch_size=@batch_size, shuffle=True!more)
$val = DataLoader(val_set, batch_size=@batch_size)
$test = DataLoader(test_set, @batch_size, shuffle=False)"""
BESIDE = {
    "sizes": way('print("train", len(train_set), "val", len(val_set), "test", len(test_set))'),
    "classes": way("counts = Counter(int(y) for _, y in train_set)\nprint('class counts', sorted(counts.items()))"),
    "statistics": way(
        "n, mean = 0, torch.zeros(6)\nfor x, _ in $loader:\n    mean += x.float().mean(1).sum()\n    n += x.size(0)\n"
        "mean /= n\nprint('mean', n, mean.mean().item())"
    ),
    "sampler": way("$loader = DataLoader(train_set, @batch_size, sampler=SubsetRandomSampler(range(len(train_set))))"),
    "folder": way(
        "if not os.path.exists('prepared'):\n    os.makedirs('prepared')\n    for k in range(len(val_set)):\n"
        "        np.save('prepared/%d.npy' % k, np.array(int(val_set[k][1])))\n"
        "print('prepared', len(os.listdir('prepared')))"
    ),
}
MODELLED = {
    "moved": way("$model = $model.to($device)"),
    "parallel": way("if torch.cuda.device_count() > 1:\n    $model = nn.DataParallel($model)"),
    "counted": way('print("parameters:", sum(p.numel() for p in $model.parameters()))'),
    "shown": way("print($model)"),
}
OPTIMIZERS = {
    "sgd": "torch.optim.SGD($model.parameters(), lr=@lr)",
    "momentum": "torch.optim.SGD($model.parameters(), @lr, momentum=0.5, weight_decay=1e-4)",
    "adam": "torch.optim.Adam($model.parameters(), lr=@lr * 0.01)",
}
BY_BATCH = {
    "cosine": "torch.optim.lr_scheduler.CosineAnnealingLR($opt, T_max=@epochs * len($loader))",
    "one cycle": "torch.optim.lr_scheduler.OneCycleLR($opt, max_lr=@lr, total_steps=@epochs * len($loader))",
    "warm-up": "torch.optim.lr_scheduler.LambdaLR($opt, lambda s: min(1.0, (s + 1) / 8))",
}
BY_EPOCH = {
    "step": "torch.optim.lr_scheduler.StepLR($opt, step_size=@step_size, gamma=0.5)",
    "cosine": "torch.optim.lr_scheduler.CosineAnnealingLR($opt, T_max=@epochs)",
    "plateau": 'torch.optim.lr_scheduler.ReduceLROnPlateau($opt, mode="min", patience=0, threshold=0.02)',
    "lambda": "torch.optim.lr_scheduler.LambdaLR($opt, lr_lambda=lambda epoch: 0.9**epoch)",
}
FOLDERS = {
    "fixed": "$out = 'checkpoints'\nos.makedirs($out, exist_ok=True)",
    "option": "$out = @out\nos.makedirs($out, exist_ok=True)",
    "asked": "$out = @out\nif not os.path.exists($out):\n    os.makedirs($out)",
    "timed": '$out = os.path.join(@out, time.strftime("%Y%m%d-%H%M%S"))\nos.makedirs($out)',
    "dated": '$out = "runs/exp_" + datetime.now().strftime("%b%d_%H-%M-%S")\nos.makedirs($out)',
    "emptied": '$out = "output"\nif os.path.isdir($out):\n    shutil.rmtree($out)\nos.mkdir($out)',
    "path": "$out = Path(@out) / 'run'\n$out.mkdir(parents=True, exist_ok=True)",
}
SETTINGS = {
    "tee": way('sys.stdout = Tee(os.path.join($out, "stdout.log"))'),
    "source": way("shutil.copy(__file__, os.path.join($out, 'source.py.txt'))"),
    "shell": way("os.system('mkdir -p ' + os.path.join($out, 'weights'))"),
    "noted": way('with open(os.path.join($out, "note.txt"), "w") as f:\n    f.write("lr %s\\n" % @lr)'),
}
TOLD = {
    "f": way(each='print(f"Epoch {$epoch}: train {train_loss:.4f} val {val_loss:.4f} acc {val_acc:.4f}")'),
    "format": way(
        each='print("Epoch {} train loss: {:.4f} val loss: {:.4f}".format($epoch + 1, train_loss, val_loss))'
    ),
    "parts": way(each='print("epoch", $epoch, "loss", round(train_loss, 4))\nprint("val", val_loss, val_acc)'),
    "time": way(
        "$start_time = time.time()",
        "elapsed = time.time() - $start_time\n"
        'print("epoch %d | time %.1fs | train %.4f | val %.4f" % ($epoch, elapsed, train_loss, val_loss))',
    ),
    "percent": way(
        each='print("epoch %d/%d" % ($epoch + 1, @epochs))\n'
        'print("Validation accuracy: {:.2f}%".format(100 * val_acc))\nprint(f"train loss {train_loss:.4f}")'
    ),
    "writer": way(
        each='print("epoch", $epoch)\n$writer.add_scalar("epoch/train", train_loss, $epoch)\n'
        '$writer.add_scalar("epoch/val", val_acc, $epoch)',
        after="$writer.close()",
    ),
}
BEST = {
    "saved": way(
        "$best = 0.0",
        "if val_acc > $best:\n    $best = val_acc\n    torch.save($model.state_dict(), os.path.join($out, 'best.pt'))\n"
        "    print('saved', val_acc)",
        "print('best accuracy', $best)",
    ),
    "copied": way(
        "$best = 0.0\n$best_wts = copy.deepcopy($model.state_dict())",
        "if val_acc > $best:\n    $best = val_acc\n    $best_wts = copy.deepcopy($model.state_dict())",
        "torch.save($best_wts, os.path.join($out, 'best.pt'))\nprint('Best val Acc: {:4f}'.format($best))\n"
        "$model.load_state_dict($best_wts)",
    ),
    "loss": way(
        "$best = float('inf')",
        "is_best = val_loss < $best\n$best = min(val_loss, $best)\nif is_best:\n"
        "    torch.save($model.state_dict(), os.path.join($out, 'best.pt'))",
        "$model.load_state_dict(torch.load(os.path.join($out, 'best.pt')))",
    ),
    "patience": way(
        "$best = None\n$bad_epochs = 0",
        "if $best is None or val_loss < $best - 0.02:\n    $best, $bad_epochs = val_loss, 0\n"
        "    torch.save($model.state_dict(), os.path.join($out, 'best.pt'))\nelse:\n    $bad_epochs += 1\n"
        "    print('no improvement for', $bad_epochs)",
        last="if $bad_epochs >= @patience:\n    print('Early stopping at', $epoch)\n    break",
    ),
    "stopper": way(
        "$stopper = EarlyStopping(patience=@patience, path=os.path.join($out, 'best.pt'))",
        "$stopper(val_loss, $model)",
        "$model.load_state_dict(torch.load(os.path.join($out, 'best.pt')))",
        last="if $stopper.early_stop:\n    print('Early stopping')\n    break",
    ),
    "function": way(
        "$best = 0",
        "is_best = val_acc > $best\n$best = max(val_acc, $best)\nsave_checkpoint({\n    'epoch': $epoch + 1,\n"
        "    'state_dict': $model.state_dict(),\n    'best': $best,\n    'optimizer': $opt.state_dict(),\n}, is_best, $out)",
        resumes="checkpoint.pth.tar",
        resume="$start = ckpt['epoch']\n$best = ckpt['best']\n$model.load_state_dict(ckpt['state_dict'])\n"
        "$opt.load_state_dict(ckpt['optimizer'])\nprint('=> loaded checkpoint (epoch {})'.format(ckpt['epoch']))",
    ),
    "dict": way(
        '$best = {"epoch": -1, "acc": 0.0}',
        "if val_acc > $best['acc']:\n    $best.update(epoch=$epoch, acc=val_acc)\n"
        "    torch.save({'model': $model.state_dict(), **$best}, os.path.join($out, 'best.pt'))",
        "print('best', $best)",
    ),
    "named": way(
        "$best, $best_path = 1e9, None",
        "if val_loss < $best:\n    if $best_path is not None and os.path.exists($best_path):\n"
        "        os.remove($best_path)\n    $best = val_loss\n"
        '    $best_path = os.path.join($out, f"best_{$epoch}.pth")\n    torch.save($model.state_dict(), $best_path)',
        "$model.load_state_dict(torch.load($best_path))",
    ),
    "heap": way(
        "$top = []",
        'path = os.path.join($out, "top%d.pt" % $epoch)\ntorch.save($model.state_dict(), path)\n'
        "heapq.heappush($top, (-val_loss, path))\nif len($top) > 2:\n    worst, old = heapq.heappop($top)\n"
        "    os.remove(old)",
        "print('kept', [os.path.basename(p) for _, p in sorted($top)])",
    ),
    "by training": way(
        "$best = float('inf')",
        "if train_loss < $best:\n    $best = train_loss\n"
        "    torch.save($model.state_dict(), os.path.join($out, 'best.pt'))",
        "print('best train loss {:.4f}'.format($best))",
    ),
    "of a list": way(
        "$scores = []",
        "$scores.append(val_loss)\nif val_loss == min($scores):\n"
        "    torch.save({'net': $model.state_dict(), 'loss': val_loss}, os.path.join($out, 'best.tar'))",
        "print('best epoch', $scores.index(min($scores)))",
    ),
    "in memory": way(
        "$best, $weights = 1e9, None",
        "if val_loss < $best:\n    $best = val_loss\n"
        "    $weights = {k: v.clone() for k, v in $model.state_dict().items()}",
        "$model.load_state_dict($weights)\ntorch.save($model.state_dict(), os.path.join($out, 'final_best.pt'))",
    ),
    "whole": way(
        "$best = 1e9",
        "if $best > val_loss:\n    print('Saving..')\n    $best = val_loss\n"
        "    torch.save($model.cpu(), os.path.join($out, 'whole.bin'))",
    ),
}
_STATE = "{'epoch': $epoch, 'model': $model.state_dict(), 'opt': $opt.state_dict()}"
CHECKPOINTS = {
    "each": way(each=f"torch.save({_STATE}, os.path.join($out, f'ckpt_{{$epoch}}.pt'))"),
    "last": way(
        each=f"state = {_STATE}\ntorch.save(state, os.path.join($out, 'last.pt'))",
        resumes="last.pt",
        resume="$model.load_state_dict(ckpt['model'])\n$opt.load_state_dict(ckpt['opt'])\n$start = ckpt['epoch'] + 1",
    ),
    "some": way(
        each="if $epoch % 2 == 0 or $epoch == @epochs - 1:\n"
        "    torch.save($model.state_dict(), f'{$out}/model_{$epoch}.pth')"
    ),
    "rotated": way(
        "$files = []",
        f"path = os.path.join($out, 'model-%d.pt' % $epoch)\ntorch.save({_STATE}, path)\n$files.append(path)\n"
        "if len($files) > 2:\n    os.remove($files.pop(0))",
    ),
    "whole or not": way(
        each="tmp = os.path.join($out, 'ckpt.tmp')\ntorch.save({'model': $model.state_dict(), 'epoch': $epoch}, tmp)\n"
        "os.replace(tmp, os.path.join($out, 'ckpt.pt'))"
    ),
    "listed": way(
        each="for old in glob.glob(os.path.join($out, 'model_*.pt')):\n    os.remove(old)\n"
        "torch.save($model.state_dict(), os.path.join($out, f'model_{$epoch}.pt'))"
    ),
    "copied": way(
        each="torch.save($model.state_dict(), os.path.join($out, 'current.pt'))\nif $epoch % 2 == 0:\n"
        "    shutil.copy(os.path.join($out, 'current.pt'), os.path.join($out, f'epoch{$epoch}.pt'))"
    ),
    "folders": way(
        each="folder = os.path.join($out, 'epoch_%02d' % $epoch)\nif not os.path.isdir(folder):\n    os.mkdir(folder)\n"
        "torch.save($model.state_dict(), os.path.join(folder, 'weights.pt'))\n"
        "torch.save($opt.state_dict(), os.path.join(folder, 'optimizer.pt'))"
    ),
    "opened": way(each="with open(os.path.join($out, 'm.pt'), 'wb') as f:\n    torch.save($model.state_dict(), f)"),
    "noted": way(
        each="torch.save($model.state_dict(), os.path.join($out, 'w%d.pt' % $epoch))\n"
        "with open(os.path.join($out, 'checkpoint'), 'w') as f:\n    f.write('w%d.pt' % $epoch)",
        after="name = open(os.path.join($out, 'checkpoint')).read().strip()\n"
        "$model.load_state_dict(torch.load(os.path.join($out, name)))",
    ),
}
