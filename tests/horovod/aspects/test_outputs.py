"""Output, downloads and devices: what is put under rank 0, and what must never be."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from horovod.torch.programs import outcome

from distml.rewrites.horovod.aspects import already, devices, downloads, helpers, outputs
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.aspects.setup import set_up
from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.plan import Loop, Note, Plan, World
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program

HEAD = (
    "import os, torch, json, logging, omegaconf, scipy.io, safetensors.torch, plotly, bokeh.plotting, progress.bar\n"
    "import nibabel, networkx, scipy.sparse, tifffile\n"
    "import tensorflow as tf\nimport matplotlib.pyplot as plt\nfrom tqdm import tqdm\n"
    "from sklearn.externals import joblib\n"
)


def plan_of(text: str, start: str = "torch") -> Plan:
    program = HEAD + dedent(text)
    project = Project("/nowhere", overlay={"/nowhere/a.py": program.encode()})
    source = project.open("a.py")
    plan = Plan(Program([source], project), Options(), frozenset([source.location]), set_up)
    plan.loops.append(Loop("HVD106", source.tree.body[0], "a loop", start))  # type: ignore[arg-type]
    plan.worlds[source.location] = World(
        "hvd", "hvd.rank()", "hvd.size()", "hvd.local_rank()", "torch", "hvd.rank() == 0", "hvd.barrier()"
    )
    return plan


def rewritten(plan: Plan) -> str:
    (location,) = plan.editable
    before = plan.program.units[location].source.text
    after = plan.patches[location].rewritten(before).source if plan.patches else before
    return after.removeprefix(HEAD)


GUARDED = [
    "print('loss', loss)",
    "print(f'{loss.item():.3f}', len(data))",
    "print('%d' % step, end='\\r')",
    "print('a'.join(names), round(x, 2), x.shape[0])",
    "logging.info('x %s', x)",
    "logging.getLogger(__name__).info('x')",
    "logging.critical('x %s', x)",
    "logging.warning('x')",
    "logging.Logger('own').error('x')",
    "logging.getLogger().getChild('own').info('x')",
    "logging.LoggerAdapter(logging.getLogger('own'), {}).warning('x')",
    "torch.save(model.state_dict(), 'm.pt')",
    "plt.savefig('a.png')",
    "json.dump({'a': 1}, out)",
    "joblib.dump({'a': 1}, 'a.pkl')",
    "model.save_weights('w')",
    "tf.keras.Sequential().summary()",
    "torch.utils.tensorboard.SummaryWriter().add_scalar('a', loss.item(), 3)",
    "tf.train.Checkpoint().save('c')",
    "open('a', 'w').write(text)",
    "with open('a', 'w') as f:\n    f.write(text)",
    "os.remove('old.ckpt')",
    "omegaconf.OmegaConf.save(settings, 'used.yaml')",
    "scipy.io.savemat('a.mat', {'a': a})",
    "scipy.sparse.save_npz('a.npz', matrix)",
    "torch.utils.tensorboard.SummaryWriter().export_scalars_to_json('a.json')",
    "nibabel.save(image, 'a.nii')",
    "tifffile.imwrite('a.tif', image)",
    "networkx.write_gml(graph, 'a.gml')",
    "safetensors.torch.save_file(weights, 'a.safetensors')",
    "frame.to_parquet('a.parquet')",
    "plotly.offline.plot(figure, filename='a.html')",
    "plotly.io.write_image(figure, 'a.png')",
    "plotly.graph_objects.Figure().write_html('a.html')",
    "bokeh.plotting.save(figure)",
    "clip.write_gif('a.gif')",
    "progress.bar.Bar('Epoch', max=3).next()",
    "progress.spinner.Spinner().finish()",
    "array.tofile('a.bin')",
    "tf.train.Supervisor(logdir='a').summary_writer.add_summary(text)",
    "tf.gfile.DeleteRecursively('logs')",
    "print(total / 3 * 100.0, (a, b), [c for c in d])",
]
COMPUTED = [
    ("print", "(next(batches))"),
    ("print", "(model.evaluate(x))"),
    ("print", "(session.run(step))"),
    ("print", "(loss := 3)"),
    ("print", "(train())"),
    ("print", "(f'{train():.3f}', end='')"),
    ("print", "(torch.rand(3))"),
    ("print", "(items.pop())"),
    ("tqdm.write", "(str(train()))"),
    ("logging.info", "('loss %s', train())"),
    ("torch.save", "(train(), 'a.pt')"),
    ("torch.utils.tensorboard.SummaryWriter().add_scalar", "('a', train(), 3)"),
]
LEFT = [
    "model.train()",
    "optimizer.step()",
    "x = model.save('m')",
    "with open('a') as f:\n    f.read()",
    "with open('a', 'w') as f:\n    loss = step()",
    "restored = tf.train.Checkpoint().restore('c')",
    "tf.train.Checkpoint().restore('c')",
    "answer = input('go on?')",
    "try:\n    load()\nexcept OSError:\n    logging.warning('a file of this rank')",
]


@pytest.mark.parametrize("text", GUARDED)
def test_output_is_put_under_rank_zero(text: str) -> None:
    plan = plan_of(text)
    outputs.on_rank_zero(plan)
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    assert rewritten(plan).removesuffix("\n") + "\n" == f"if hvd.rank() == 0:\n{indented}"


@pytest.mark.parametrize(
    "shown", ["found.items()", "[round(v, 2) for k, v in found.items()]", "sorted(found.keys())", "found.get('a')"]
)
@pytest.mark.parametrize("made", ["{'a': 1.5}", "dict(a=1.5)", "load()"])
def test_methods_of_dicts_that_only_read_are_known_wherever_the_dict_is_made(made: str, shown: str) -> None:
    plan = plan_of(f"found = {made}\nprint({shown})\nprint(found.pop('a'))")
    outputs.on_rank_zero(plan)
    put = f"found = {made}\nif hvd.rank() == 0:\n    print({shown})\non_rank_zero(print)(found.pop('a'))"
    assert rewritten(plan).endswith(put)


@pytest.mark.parametrize("text", LEFT)
def test_what_does_more_than_output_stays(text: str) -> None:
    plan = plan_of(text)
    outputs.on_rank_zero(plan)
    assert rewritten(plan) == text


@pytest.mark.parametrize(("shows", "given"), COMPUTED)
def test_all_ranks_compute_what_one_shows(shows: str, given: str) -> None:
    plan = plan_of(shows + given)
    outputs.on_rank_zero(plan)
    assert rewritten(plan).endswith(f"\non_rank_zero({shows}){given}")


def test_a_collective_is_never_put_under_rank_zero() -> None:
    plan = plan_of("print(loss)")
    (call,) = [node for node in ast.walk(plan.program.roots[0].tree) if isinstance(node, ast.Call)]
    plan.patch(call).wrap(call.args[0], "hvd.allreduce({})", Note("", "", ""))
    outputs.on_rank_zero(plan)
    assert rewritten(plan).endswith("\non_rank_zero(print)(hvd.allreduce(loss))")


def test_functions_of_the_program_are_looked_into() -> None:
    plan = plan_of(
        """
        def shown(x):
            parts = x.tolist()
            return ", ".join(str(p) for p in parts)
        def stepped(x):
            optimizer.step()
            return x
        """
    )
    program = plan.program
    for name, pure in (("shown", True), ("stepped", False)):
        call = ast.parse(f"{name}(x)", mode="eval").body
        assert isinstance(call, ast.Call)
        unit = program.roots[0]
        for node in ast.walk(call):
            unit.lexical.parents[node] = unit.tree
            program._of[node] = unit
        program.evaluate(call, unit)
        assert reads_only(call, program) is pure


def test_progress_bars_and_folders() -> None:
    plan = plan_of("for x in tqdm(data, total=3):\n    pass\nos.makedirs(out)\nos.mkdir('a')\n")
    outputs.on_rank_zero(plan)
    assert rewritten(plan) == (
        "for x in tqdm(data, total=3, disable=hvd.rank() != 0):\n    pass\n"
        "os.makedirs(out, exist_ok=True)\nos.makedirs('a', exist_ok=True)\n"
    )


FOLDERS = {
    "os.makedirs(out, exist_ok=False)": "os.makedirs(out, exist_ok=True)",
    "os.makedirs(out, exist_ok=again)": "os.makedirs(out, exist_ok=True)",
    "os.makedirs(out, 0o777)": "os.makedirs(out, 0o777, exist_ok=True)",
    "os.makedirs(out, 0o777, again)": "os.makedirs(out, 0o777, True)",
    "out.mkdir(parents=True, exist_ok=again)": "out.mkdir(parents=True, exist_ok=True)",
    "out.mkdir(exist_ok=False)": "out.mkdir(exist_ok=True)",
    "out.mkdir(exist_ok=True)": "out.mkdir(exist_ok=True)",
    "os.makedirs(out, **given)": "os.makedirs(out, **given)",
}


@pytest.mark.parametrize("made", FOLDERS)
def test_a_folder_that_all_ranks_make_may_be_there_whatever_says_otherwise(made: str) -> None:
    plan = plan_of(f"again = name == ''\n{made}\n")
    outputs.on_rank_zero(plan)
    assert rewritten(plan) == f"again = name == ''\n{FOLDERS[made]}\n"


def test_downloads_are_made_by_one_process_first() -> None:
    plan = plan_of(
        """
        from torchvision import datasets
        a = datasets.MNIST('.', download=True)
        b = datasets.MNIST('.', train=False, download=True)
        c = datasets.MNIST('.')
        """
    )
    downloads.once(plan)
    assert rewritten(plan) == dedent(
        """
        from torchvision import datasets
        if hvd.local_rank() != 0:
            hvd.barrier()
        a = datasets.MNIST('.', download=True)
        b = datasets.MNIST('.', train=False, download=True)
        if hvd.local_rank() == 0:
            hvd.barrier()
        c = datasets.MNIST('.')
        """
    )


def test_a_download_that_is_returned_waits_where_it_is_called() -> None:
    plan = plan_of("def load():\n    return tf.keras.datasets.mnist.load_data()\ndata = load()\n", "tensorflow")
    downloads.once(plan)
    assert rewritten(plan).endswith(
        "if hvd.local_rank() != 0:\n    hvd.broadcast_object(None)\ndata = load()\n"
        "if hvd.local_rank() == 0:\n    hvd.broadcast_object(None)\n"
    )


def test_a_download_in_the_head_of_a_loop_is_warned_of() -> None:
    text = "for x, y in [tf.keras.datasets.mnist.load_data()]:\n    step(x)\n"
    plan = plan_of(text, "tensorflow")
    downloads.once(plan)
    assert [each.code for each in plan.warnings] == ["HVD307"]
    assert rewritten(plan) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0'\nx = 1\n", "x = 1\n"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = gpu\nx = 1\n", "x = 1\n"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nx = 1\n", None),
        ("os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\nx = 1\n", None),
        ("os.environ.setdefault('CUDA_VISIBLE_DEVICES', '1')\nx = 1\n", "x = 1\n"),
        ("if gpu:\n    os.environ['CUDA_VISIBLE_DEVICES'] = gpu\n", "if gpu:\n    pass\n"),
        ("tf.config.set_visible_devices(gpus[0], 'GPU')\nx = 1\n", "x = 1\n"),
        ("tf.config.set_visible_devices([], 'GPU')\nx = 1\n", None),
    ],
)
def test_a_choice_of_one_gpu_is_taken_away(text: str, expected: str | None) -> None:
    plan = plan_of(text)
    devices.visible(plan)
    assert rewritten(plan) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import horovod.torch as hvd", "HVD201"),
        ("torch.distributed.init_process_group('gloo')", "HVD201"),
        ("from torch.nn.parallel import DistributedDataParallel as DDP\nDDP(model)", "HVD201"),
        ("strategy = tf.distribute.MirroredStrategy()", "HVD201"),
        ("strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=2)", "HVD201"),
        ("import deepspeed", "HVD201"),
        ("import pytorch_lightning as pl\npl.Trainer().fit(m)", "HVD202"),
        ("from accelerate import Accelerator\naccelerator = Accelerator()", "HVD202"),
        ("from transformers import Trainer\nTrainer(model=m).train()", "HVD202"),
        ("import torch.multiprocessing as mp\nmp.spawn(train, nprocs=4)", "HVD211"),
        ("def unused():\n    pass", None),
        ("from transformers import AutoModel\nm = AutoModel.from_pretrained('x')", None),
        ("import multiprocessing", None),
    ],
)
def test_programs_that_are_distributed_already(text: str, code: str | None) -> None:
    found = already.distributed(plan_of(text).program)
    assert [each.code for each in found] == ([code] if code else [])


def test_a_download_in_an_input_function_of_an_estimator_is_warned_of() -> None:
    text = "def input_fn():\n    data = tf.keras.datasets.mnist.load_data()\n    return data\n"
    plan = plan_of(text, "tensorflow")
    plan.loops.append(Loop("HVD105", plan.loops[0].node, "an estimator", "session"))
    downloads.once(plan)
    assert [each.code for each in plan.warnings] == ["HVD307"]
    assert rewritten(plan) == text


EARLY = (
    "import torch\nclass Stopping:\n    def __call__(self, model):\n        print('better')\n"
    "        torch.save(model.state_dict(), 'best.pt')\n"
)


@pytest.mark.parametrize("given", [True, False])
def test_weights_written_by_other_modules(given: bool) -> None:
    project = Project(
        "/nowhere",
        overlay={
            "/nowhere/stopping.py": EARLY.encode(),
            "/nowhere/a.py": b"import stopping\nkept = stopping.Stopping\n",
        },
    )
    source = project.open("a.py")
    program = Program([source], project)
    other = next(location for location in program.units if location.endswith("stopping.py"))
    plan = Plan(program, Options(), frozenset([source.location, other] if given else [source.location]), set_up)
    plan.loops.append(Loop("HVD106", source.tree.body[0], "a loop", "torch"))
    plan.worlds[source.location] = World(
        "hvd", "hvd.rank()", "hvd.size()", "hvd.local_rank()", "torch", "hvd.rank() == 0", "hvd.barrier()"
    )
    outputs.on_rank_zero(plan)
    helpers.by_rank_zero(plan)
    if given:
        both = "        if not hvd.is_initialized() or hvd.rank() == 0:\n            print('better')\n            torch.save("
        assert both in plan.patches[other].rewritten(EARLY).source
    else:
        assert [each.code for each in plan.warnings] == ["HVD306"]
        assert not plan.patches


def test_a_file_that_every_rank_opens_is_written_by_every_rank_or_opened_by_one() -> None:
    kept = (
        "def save(values, path):\n    with open(path, 'w') as f:\n        d = list(values)\n        json.dump(d, f)\n"
    )
    used = kept + "    return d\n"
    for text, first in ((kept, "    if hvd.rank() == 0:\n        with open(path, 'w') as f:"), (used, None)):
        plan = plan_of(text)
        outputs.on_rank_zero(plan)
        assert first in rewritten(plan) if first else rewritten(plan) == text


BARS = {
    **{
        f"{module}.{name}": "disable=hvd.rank() != 0"
        for module in ("tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.autonotebook", "tqdm.rich", "tqdm.std", "tqdm.gui")
        for name in ("tqdm", "trange")
    },
    "tqdm.tqdm_notebook": "disable=hvd.rank() != 0",
    "tqdm.tnrange": "disable=hvd.rank() != 0",
    "rich.progress.track": "disable=hvd.rank() != 0",
    "rich.progress.Progress": "disable=hvd.rank() != 0",
    "alive_progress.alive_bar": "disable=hvd.rank() != 0",
    "fastprogress.progress_bar": "display=hvd.rank() == 0",
    "progressbar.ProgressBar": 'fd=sys.stderr if hvd.rank() == 0 else open(os.devnull, "w")',
    "progressbar.progressbar": 'fd=sys.stderr if hvd.rank() == 0 else open(os.devnull, "w")',
    "keras.utils.Progbar": "verbose=1 if hvd.rank() == 0 else 0",
    "tensorflow.keras.utils.Progbar": "verbose=1 if hvd.rank() == 0 else 0",
    "keras.utils.generic_utils.Progbar": "verbose=1 if hvd.rank() == 0 else 0",
    "wandb.init": 'mode=None if hvd.rank() == 0 else "disabled"',
    "comet_ml.Experiment": "disabled=hvd.rank() != 0",
}


@pytest.mark.parametrize("made", BARS)
def test_only_rank_zero_shows_a_bar(made: str) -> None:
    module, _, name = made.rpartition(".")
    plan = plan_of(
        f"from {module} import {name} as shown\nbar = shown(total=3)\nshown({BARS[made].partition('=')[0]}=wanted)\n"
    )
    outputs.on_rank_zero(plan)
    assert f"bar = shown(total=3, {BARS[made]})" in rewritten(plan)
    assert "=wanted)" in rewritten(plan)


TRIED = """\
import os

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
try:
    {make}
except {error}:
    {handled}
model.compile("sgd", "mse")
model.fit(tf.ones([64, 4]), tf.ones([64, 1]))
"""
MAKES = ["os.mkdir('out')", "os.makedirs('out')"]
OTHERWISE = ["model.load_weights('out/kept')", "begin = 3", "print('there')\n    names = os.listdir('out')"]
SAME = ["raise", "print('there')", "pass", "if not os.path.isdir('out'):\n        raise"]


@pytest.mark.parametrize("error", ["OSError", "FileExistsError", "Exception"])
@pytest.mark.parametrize("make", MAKES)
def test_a_folder_that_decides_how_to_go_on_is_named(make: str, error: str) -> None:
    for handled in OTHERWISE:
        found = outcome(TRIED.format(make=make, error=error, handled=handled))
        (file,) = found.files.values()
        assert f"try:\n    {make}\n" in file.source and "HVD307" in [each.code for each in found.plan.warnings]
    for handled in SAME:
        found = outcome(TRIED.format(make=make, error=error, handled=handled))
        (file,) = found.files.values()
        assert "HVD307" not in [each.code for each in found.plan.warnings]
        assert handled == "pass" or "os.makedirs('out', exist_ok=True)" in file.source


RETURNED = """\
import cv2
import imageio
import numpy as np
import scipy.misc
import tensorflow as tf


def merged(images):
    whole = np.zeros((4, 4))
    for i, image in enumerate(images):
        whole[i % 4] = image[0]
    return whole


def kept(images, path):
    return {0}


model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
model.compile("sgd", "mse")
model.fit(np.ones((64, 1)), np.ones((64, 1)))
kept(np.ones((64, 1)), "a.png")
"""


@pytest.mark.parametrize(
    "writing",
    [
        "scipy.misc.imsave(path, images)",
        "imageio.imwrite(path, images)",
        "cv2.imwrite(path, images)",
        "images.tofile(path)",
    ],
)
@pytest.mark.parametrize("images", ["images", "merged(images)"])
def test_what_a_function_gives_back_the_writing_of_is_written_by_rank_zero(writing: str, images: str) -> None:
    written = writing.replace("images", images)
    (file,) = outcome(RETURNED.format(written)).files.values()
    function, _, rest = written.partition("(")
    assert (
        f"return {written} if hvd.rank() == 0" in file.source
        or f"return on_rank_zero({function})({rest}" in file.source
    )


SHOWN = """import wandb
import torch
from collections import OrderedDict
def renamed(state):
    found = {made}
    for name, value in state.items():
        found[name[7:]] = value
    return found
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(torch.ones(8, 4)):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
wandb.log({{"picture": wandb.Image("picture.png")}})
torch.save(renamed(model.state_dict()), "model.pt")
"""


@pytest.mark.parametrize("made", ["OrderedDict()", "{}", "dict()", "dict(a=1)"])
def test_what_only_makes_what_is_written_is_left_to_rank_0(made: str) -> None:
    """No other rank opens the picture, or fills a dictionary."""
    text = SHOWN.format(made=made)
    overlay = {"/nowhere/a.py": text.encode()}
    program = Program([Project("/nowhere", overlay=overlay).open("a.py")], Project("/nowhere", overlay=overlay))
    (file,) = rewrite(
        program, Options(backend="ddp"), [*program.units], dict.fromkeys(program.units, text)
    ).files.values()
    behind = file.source[file.source.index("if dist.get_rank() == 0:\n    wandb") :]
    assert behind.startswith(
        'if dist.get_rank() == 0:\n    wandb.log({"picture": wandb.Image("picture.png")})\n    torch.save('
    )
