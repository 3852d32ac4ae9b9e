"""Every process has its own GPU, in whichever way the program named the first one."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome, rewritten

PROGRAM = """\
import argparse
import os
import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
parser.add_argument("--width", type=int, default=1)
args = parser.parse_args()
GPU = 0
{above}
loader = DataLoader(TensorDataset(torch.ones(64, 1)), batch_size=8, shuffle=True)
model = torch.nn.Linear(1, 1){placed}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, in loader:
    optimizer.zero_grad()
    model(x{placed}).square().mean().backward()
    optimizer.step()
"""
LOCAL = 'int(os.environ["LOCAL_RANK"])'
TEXT = """f"cuda:{int(os.environ['LOCAL_RANK'])}\""""
PLACES = {
    ".to(0)": f".to({LOCAL})",
    ".to(GPU)": f".to({LOCAL})",
    ".to(args.gpu)": f".to({LOCAL})",
    ".to(device=0)": f".to(device={LOCAL})",
    ".to(torch.device(0))": f".to(torch.device({LOCAL}))",
    '.to(torch.device("cuda", 0))': f'.to(torch.device("cuda", {LOCAL}))',
    '.to("cuda:0")': f".to({TEXT})",
    '.to("cuda:" + str(GPU))': f".to({TEXT})",
    '.to(f"cuda:{args.gpu}")': f".to({TEXT})",
    ".cuda(0)": f".cuda({LOCAL})",
    ".cuda(args.gpu)": f".cuda({LOCAL})",
    ".cuda(GPU, non_blocking=True)": f".cuda({LOCAL}, non_blocking=True)",
}
SAME = (".cuda()", '.to("cuda")', ".to(torch.float32)", ".to(x_type)", ".cuda(non_blocking=True)")
MADE = {
    "torch.set_default_device(0)": f"torch.set_default_device({LOCAL})",
    "torch.cuda.set_device(args.gpu)": f"torch.cuda.set_device({LOCAL})",
    "shift = torch.zeros(args.width, device=0)": f"shift = torch.zeros(args.width, device={LOCAL})",
    'shift = torch.zeros(args.width, device="cuda:0")': f"shift = torch.zeros(args.width, device={TEXT})",
    'kept = torch.load("kept.pt", 0)': f'kept = torch.load("kept.pt", {LOCAL})',
    'kept = torch.load("kept.pt", map_location="cuda:0")': f'kept = torch.load("kept.pt", map_location={TEXT})',
}


def program(above: str = "", placed: str = "") -> str:
    return PROGRAM.format(above=above, placed=placed)


@pytest.mark.parametrize("placed", PLACES)
def test_models_and_batches_go_to_the_gpu_of_the_process(placed: str) -> None:
    text = rewritten(program(placed=placed), "ddp")
    assert f"torch.nn.Linear(1, 1){PLACES[placed]}\n" in text
    assert f"model(x{PLACES[placed]})" in text


@pytest.mark.parametrize("placed", SAME)
def test_what_names_no_gpu_stays(placed: str) -> None:
    text = rewritten(program("x_type = torch.float32", placed), "ddp")
    assert f"torch.nn.Linear(1, 1){placed}\n" in text
    assert f"model(x{placed})" in text


@pytest.mark.parametrize("line", MADE)
def test_tensors_are_made_on_the_gpu_of_the_process(line: str) -> None:
    assert f"\n{MADE[line]}\n" in rewritten(program(line, ".cuda()"), "ddp")


OWN = "class Parts:\n    def to(self, device):\n        return self\n\n\nparts = Parts().to(0)"


def test_a_method_of_the_program_is_given_what_it_was_given() -> None:
    assert "parts = Parts().to(0)\n" in rewritten(program(OWN), "ddp")


def test_a_process_that_uses_two_gpus_is_refused() -> None:
    other = 'teacher = torch.nn.Linear(1, 1).to("cuda:1")'
    found = outcome(program(other, '.to("cuda:0")'))
    assert [each.code for each in found.plan.refusals] == ["HVD202"]
    assert "`'cuda:1'` (line 11) and `'cuda:0'`" in found.plan.refusals[0].message
    either = 'device = "cuda:1" if args.gpu else "cuda:0"\nassert device in ("cuda:0", "cuda:1", "cuda:2")'
    assert not outcome(program(either, ".to(device)")).plan.refusals


def test_accelerate_is_told_where_older_programs_put_tensors() -> None:
    text = rewritten(program(placed=".type(torch.cuda.FloatTensor)"), "accelerate")
    assert "Accelerator(device_placement=False" in text


def test_accelerate_takes_no_wrapper_of_the_program_off() -> None:
    wrapped = program().replace("torch.nn.Linear(1, 1)", "torch.nn.DataParallel(torch.nn.Linear(1, 1)).cuda()")
    text = rewritten(f'{wrapped}torch.save(model.module.state_dict(), "model.pt")\n', "accelerate")
    assert "model.module.state_dict()" in text
    assert "unwrap_model" not in text


ASKED = ("x.get_device()", "torch.ones(1).get_device()", "torch.cuda.current_device()")
SPELLED = ('f"cuda:{{{}}}"', '"cuda:" + str({})', '"cuda:%d" % {}', '"cuda:{{}}".format({})')


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("spelled", SPELLED)
@pytest.mark.parametrize("named", [False, True])
def test_the_gpu_that_a_tensor_is_on_is_that_of_the_process(asked: str, spelled: str, named: bool) -> None:
    number = f"number = {asked}\n" if named else ""
    text = f"{number}place = torch.device({spelled.format('number' if named else asked)})\n"
    assert text in rewritten(program() + text, "ddp")


@pytest.mark.parametrize("display", ['["cpu", "cuda:0", "cuda:1"]', '("cpu", "cuda:0")', '{"cuda:0"}'])
def test_what_an_option_may_be_stays(display: str) -> None:
    option = f'parser.add_argument("--device", default="cuda:0", choices={display})\n'
    becomes = option.replace('default="cuda:0"', f"default={TEXT}")
    assert becomes in rewritten(program(above=option), "ddp")


VISIBLE = 'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n'
COMMENTS = {
    "of a statement alone": ("# the second GPU\n" + VISIBLE + "\n", ""),
    "of two lines": ("# the second GPU,\n# as in the paper\n" + VISIBLE + "\n", ""),
    "of more than one": ("# settings\n" + VISIBLE + "size = 8\n", "# settings\n"),
    "of what stands above": ("# settings\n\n" + VISIBLE + "\n", "# settings\n"),
}


@pytest.mark.parametrize("what", COMMENTS)
def test_a_comment_goes_with_the_statement_that_it_is_about(what: str) -> None:
    head, left = COMMENTS[what]
    program = f"""
import os

{head}import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.ones(64, 1)), batch_size=8):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
"""
    source = rewritten(program)
    assert "VISIBLE" not in source
    assert ("# settings" in source) is bool(left) and "GPU," not in source and "# the second" not in source
