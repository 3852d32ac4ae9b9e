"""Judges the records of a run: each verdict says what was compared and, where it failed, what met what."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from distml.smoke.model import Options, Report, Speed, Verdict
from distml.smoke.records import Collective, Record, Weight

if TYPE_CHECKING:
    from distml.smoke.run import Ran

LOOKED_AT = 3
"""Steps after which weights must agree at the latest."""
MOVED = 0.25
"""How much the way that weights went may differ, relatively, from one process."""
LOOSE = 15.0
"""How many times wider losses may differ where the processes saw other samples, or normalize others."""
SURE = 3.0
"""How many standard errors the means of losses must differ by, where the losses of single steps differ anyway."""
LOOSELY_MOVED = 0.4
"""The same for the way of weights; half or twice the learning rate is still found."""
SETTLED = 2
"""Steps after which speed is measured, where there are more."""
FRAME = re.compile(r'File "([^"]+)", line (\d+) in (\S+)')


def judge(script: str, launcher: str, options: Options, together: Ran, alone: Ran | None) -> Report:
    """All verdicts on a script."""
    records = together.records
    found = [finished(together), collectives(records), started(records), weights(records), data(records)]
    if alone is not None:
        asked = replace(options, scale_lr="none") if alone.whole else options
        found += [original(alone), *compared(asked, records, alone.records[0], alone.unlike)]
    speeds = [speed for speed in (_speed(records), alone and _speed(alone.records)) if speed]
    return Report(
        script=script,
        launcher=launcher,
        processes=options.np,
        backend=options.backend,
        steps=min((record.steps for record in records), default=0),
        seconds=together.ended.seconds,
        verdicts=tuple(found),
        speeds=tuple(speeds),
        scaling=_scaling(speeds) if alone is not None and not alone.unlike and not options.share_gpu else None,
        output=together.ended.output,
        notes=tuple(dict.fromkeys(text for record in records for text in record.trouble)),
    )


def finished(run: Ran) -> Verdict:
    """Every rank came to its end in time."""
    bad = [_ending(record) for record in run.records if record.ending not in ("finished", "stopped")]
    if run.ended.stopped:
        places = "; ".join(_place(record) for record in run.records)
        return Verdict("finished", "failed", f"{run.ended.stopped}: {places}")
    if bad:
        return Verdict("finished", "failed", "; ".join(bad))
    steps = {record.steps for record in run.records}
    if len(steps) > 1:
        counts = ", ".join(f"rank {record.rank} made {record.steps}" for record in run.records)
        return Verdict("finished", "failed", f"the processes took different numbers of steps: {counts}")
    if steps == {0}:
        return Verdict("finished", "failed", "no optimizer made a step")
    return Verdict("finished", "passed", f"{len(run.records)} processes made {steps.pop()} steps and ended")


def _ending(record: Record) -> str:
    if not record.ending:
        return f"rank {record.rank} was killed or never started"
    return f"rank {record.rank} failed{' at ' + record.where if record.where else ''}: {record.text}"


def _place(record: Record) -> str:
    """Where a rank stood when it was stopped: in the script, and in which collective."""
    if record.ending:
        return f"rank {record.rank} had ended ({record.ending})"
    last = [*record.ordered[-1:], *record.collectives[-1:]]
    begun = f", last collective begun: {str(last[-1]).strip()}" if last else ", no collective begun"
    return f"rank {record.rank} stood {_script_line(record.stacks)} after {record.steps} steps{begun}"


def _script_line(stacks: str) -> str:
    """The innermost line of the script's own code in the stack of the main thread."""
    main = (
        stacks.rpartition("Current thread")[2] if "Current thread" in stacks else stacks.rsplit("\n\n", maxsplit=1)[-1]
    )
    frames = [match for match in FRAME.findall(main) if "/distml-smoke-" in match[0]]
    return f"at {frames[0][0].rpartition('/')[2]}:{frames[0][1]} in {frames[0][2]}" if frames else "at an unknown line"


def collectives(records: Sequence[Record]) -> Verdict:
    """Every rank began the same collectives: in the same order (torch), or equally many of each name (Horovod)."""
    first, *others = records
    for other in others:
        for index, (mine, theirs) in enumerate(zip(map(_sized, first.ordered), map(_sized, other.ordered))):
            if mine != theirs:
                text = f"collective {index + 1} is {mine} on rank 0 and {theirs} on rank {other.rank}"
                return Verdict("collectives", "failed", text)
        mine_all, theirs_all = _counted(first), _counted(other)
        if mine_all != theirs_all:
            return Verdict("collectives", "failed", _difference(mine_all, theirs_all, other.rank))
    count = len(first.ordered) + len(first.collectives)
    if not count:
        return Verdict("collectives", "failed", "no process took part in a collective")
    return Verdict("collectives", "passed", f"each process began the same {count} collectives")


def _counted(record: Record) -> Counter[Collective]:
    return Counter(map(_sized, [*record.ordered, *record.collectives]))


def _sized(found: Collective) -> Collective:
    """Without what may differ between ranks: the first size of what is gathered."""
    if "gather" in found.kind and found.shape:
        return Collective(found.kind, found.name, (None, *found.shape[1:]), found.dtype)
    return found


def _difference(mine: Counter[Collective], theirs: Counter[Collective], rank: int) -> str:
    found = next(entry for entry in [*mine, *theirs] if mine[entry] != theirs[entry])
    return f"rank 0 began {found} {_times(mine[found])}, rank {rank} {_times(theirs[found])}"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def common_step(records: Sequence[Record]) -> int | None:
    """After how many steps all ranks held the same weights for the first time."""
    for step in range(LOOKED_AT):
        if all(step in record.weights for record in records) and not _unequal(records, step):
            return step
    return None


def started(records: Sequence[Record]) -> Verdict:
    """The ranks hold the same weights before their first steps, or right after."""
    looked = [step for step in range(LOOKED_AT) if all(step in record.weights for record in records)]
    if not looked:
        return Verdict("start", "unknown", "no weights could be read before the first steps")
    if (step := common_step(records)) is not None:
        after = "before the first step" if step == 0 else f"after step {step}"
        return Verdict("start", "passed", f"all processes hold the same weights {after}")
    unequal = _unequal(records, looked[-1])
    return Verdict(
        "start", "failed", f"after {_steps(looked[-1])} {unequal}: the initial weights were never synchronized"
    )


def weights(records: Sequence[Record]) -> Verdict:
    """The ranks hold the same weights at the end."""
    last = max(set[int].intersection(*(set(record.weights) for record in records)), default=-1)
    if last < 0:
        return Verdict("weights", "unknown", "no weights could be read at the end")
    if unequal := _unequal(records, last):
        return Verdict("weights", "failed", f"after {_steps(last)} {unequal}")
    count = len(records[0].weights[last])
    return Verdict("weights", "passed", f"all processes hold the same {count} weights after {_steps(last)}")


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _unequal(records: Sequence[Record], step: int) -> str:
    """The first weight that two ranks hold differently."""
    first, *others = records
    for other in others:
        mine, theirs = first.weights[step], other.weights[step]
        if len(mine) != len(theirs):
            return f"rank 0 has {len(mine)} weights, rank {other.rank} {len(theirs)}"
        for here, there in zip(mine, theirs):
            if here.sha != there.sha:
                norms = f"norm {here.norm:.6g} on rank 0, {there.norm:.6g} on rank {other.rank}"
                return f"weight {here.name} differs between processes ({norms})"
    return ""


def data(records: Sequence[Record]) -> Verdict:
    """No rank reads the samples of another."""
    step = next((step for step in range(LOOKED_AT) if all(record.rows(step) for record in records)), None)
    if step is None or len(records) < 2:
        return Verdict("data", "unknown", "the batches could not be seen")
    if any(len(record.rows(step)) == 1 for record in records):
        return Verdict("data", "unknown", "all samples of a batch are alike")
    for index, one in enumerate(records):
        for other in records[index + 1 :]:
            dealt = one.taken(step) and other.taken(step) and one.taken(step) != other.taken(step)
            if one.rows(step) == other.rows(step) and not dealt:
                text = f"rank {one.rank} and rank {other.rank} read the same batch of {one.samples(step)} samples"
                return Verdict("data", "failed", f"{text} at step {step + 1}: the data is not sharded")
    sizes = " + ".join(str(record.samples(step)) for record in records)
    return Verdict("data", "passed", f"each process reads its own samples ({sizes} at step {step + 1})")


def original(alone: Ran) -> Verdict:
    """The original runs at all."""
    record = alone.records[0]
    if record.ending in ("finished", "stopped") and record.steps:
        return Verdict("original", "passed", f"one process made {_steps(record.steps)}")
    why = alone.ended.stopped or (_ending(record) if record.ending != "finished" else "no optimizer made a step")
    return Verdict("original", "failed", f"the original in one process: {why}")


def compared(options: Options, records: Sequence[Record], alone: Record, unlike: str = "") -> list[Verdict]:
    """Loss, and the way of the weights, against one process with the batch of all."""
    if unlike:
        return [Verdict(name, "unknown", unlike) for name in ("loss", "rate")]
    common = common_step(records)
    if common is None or not all(record.ending in ("finished", "stopped") for record in [*records, alone]):
        return [Verdict(name, "unknown", "the runs cannot be compared") for name in ("loss", "rate")]
    if trouble := next(iter(alone.trouble), ""):
        return [
            Verdict(name, "unknown", f"the single-process run did not start the same: {trouble}")
            for name in ("loss", "rate")
        ]
    steps = range(common, min(record.steps for record in [*records, alone]))
    sizes = [(sum(r.samples(step) for r in records), alone.samples(step)) for step in steps]
    if other := next(((ours, theirs) for ours, theirs in sizes if ours and theirs and ours != theirs), None):
        text = f"{options.np} processes read {other[0]} samples in a step, one process {other[1]}: not the same global batch"
        return [Verdict(name, "unknown", text) for name in ("loss", "rate")]
    loose = _loose(records, alone, steps)
    if _steeper(options, records, alone, common):
        steps = steps[:1]  # after it the weights are others, and for this reason only
    found = [_loss(options, records, alone, steps, loose), _rate(options, records, alone, common, loose)]
    return found if any(map(any, sizes)) else [_unseen(verdict) for verdict in found]


def fed_alike(records: Sequence[Record], alone: Record) -> bool:
    """Whether the ranks were fed together, in the first step they had in common, as many samples as one process was."""
    common = common_step(records)
    if common is None or alone.ending not in ("finished", "stopped"):
        return False
    batches = [batch for record in (*records, alone) for batch in record.read(common)]
    fed = bool(batches) and all(source == "feed" for source, _, _ in batches)
    return fed and sum(record.samples(common) for record in records) == alone.samples(common) > 0


def _unseen(verdict: Verdict) -> Verdict:
    """Where no batch could be seen, that of the one process may not be as large as it should be."""
    if verdict.status != "failed":
        return verdict
    return Verdict(verdict.name, "unknown", f"{verdict.text}; its batch size could not be observed")


def _loose(records: Sequence[Record], alone: Record, steps: range) -> str:
    """Why losses can only be compared roughly, or nothing."""
    for step in steps:
        union = sum((record.rows(step) for record in records), Counter[str]())
        if union != alone.rows(step):
            return "one process reads other samples"
    if "random numbers" in alone.apart:
        return "each process draws random numbers of its own"
    if alone.apart and not all(_interleaved(records, alone, step) for step in steps):
        return f"each process computes {alone.apart[0]} from other samples than one process does"
    return ""


def _interleaved(records: Sequence[Record], alone: Record, step: int) -> bool:
    """Whether each rank read every N-th sample of the large batch, which is how one process normalizes it."""
    whole = alone.order(step)
    return all(record.order(step) == whole[record.rank :: len(records)] for record in records)


def _loss(options: Options, records: Sequence[Record], alone: Record, steps: range, loose: str) -> Verdict:
    pairs = _losses(records, alone, steps)
    if not pairs:
        return Verdict("loss", "unknown", "no loss could be seen")
    tolerance = options.tolerance * (LOOSE if loose else 1)
    scale = max(abs(theirs) for _, _, theirs in pairs) or 1.0
    factor = _factor(options, pairs)
    apart_by = {step: ours * factor - theirs for step, ours, theirs in pairs}
    if loose and len(pairs) > 1:
        # Other samples give other losses at each step: what differs for another reason differs on average.
        where, ours, theirs = f"mean of {len(pairs)} steps", *(fmean(pair[at] for pair in pairs) for at in (1, 2))
        tolerance = max(tolerance, SURE * stdev(apart_by.values()) / math.sqrt(len(pairs)) / scale)
    else:
        step, ours, theirs = max(pairs, key=lambda pair: abs(apart_by[pair[0]]))
        where = f"step {step + 1}"
    apart = abs(ours * factor - theirs) / scale
    told = f"{ours * factor:.6g} in {options.np} processes, {theirs:.6g} in one with the large batch ({where})"
    limit = f"{apart:.2g} apart, {tolerance:.2g} allowed" + (f": {loose}" if loose else "")
    if not math.isfinite(apart):
        return Verdict("loss", "unknown", f"the loss is not finite: {told}")
    return Verdict("loss", "passed" if apart <= tolerance else "failed", f"{told}; {limit}")


def _losses(records: Sequence[Record], alone: Record, steps: range) -> list[tuple[int, float, float]]:
    """The mean loss of the ranks and that of the one process, by step, where all are known."""
    return [
        (step, fmean(fmean(record.losses[step]) for record in records), fmean(alone.losses[step]))
        for step in steps
        if alone.losses.get(step) and all(record.losses.get(step) for record in records)
    ]


def _steeper(options: Options, records: Sequence[Record], alone: Record, common: int) -> bool:
    """Whether one process went N times as far in the first step since its loss, a sum, is N times as steep.

    Optimizers that heed the size of gradients do so; others, such as Adam, go as far as with a mean.
    """
    pairs = _losses(records, alone, range(common, common + 1))
    if not pairs or _factor(options, pairs) == 1:
        return False
    ours, theirs = (_way(weights, common, common + 1) for weights in (records[0].weights, alone.weights))
    return theirs > 0 and abs(ours * options.np / theirs - 1) <= options.tolerance


def _factor(options: Options, pairs: Sequence[tuple[int, float, float]]) -> float:
    """How many times larger the loss of one process is by definition: N for one that is summed over samples."""
    _, ours, theirs = pairs[0]
    summed = abs(ours * options.np - theirs) <= options.tolerance * abs(theirs) < abs(ours - theirs)
    return float(options.np) if summed else 1.0


def _rate(options: Options, records: Sequence[Record], alone: Record, common: int, loose: str) -> Verdict:
    """How far the weights went, which the learning rate decides."""
    last = max(records[0].weights.keys() & alone.weights.keys(), default=0)
    ours, theirs = (_way(weights, common, last) for weights in (records[0].weights, alone.weights))
    if not ours or not theirs:
        return Verdict("rate", "unknown", "the way of the weights could not be measured")
    ratio = ours / theirs
    if _steeper(options, records, alone, common):
        text = f"in a step the weights went 1/{options.np} as far as in one process with the large batch, whose loss, a sum over"
        return Verdict("rate", "passed", f"{text} samples, is {options.np} times as steep")
    text = f"the weights went {ratio:.3g} times as far as in one process with the large batch"
    allowed = LOOSELY_MOVED if loose else MOVED
    if abs(ratio - 1) <= allowed:
        return Verdict("rate", "passed", text)
    return Verdict("rate", "failed", f"{text} and {_asked(options)}; {1 - allowed:g} to {1 + allowed:g} allowed")


def _asked(options: Options) -> str:
    return f"{options.np} times the learning rate" if options.scale_lr == "linear" else "the same learning rate"


def _way(weights: dict[int, tuple[Weight, ...]], start: int, end: int) -> float:
    """How far the weights went between two steps; 0 where that was not seen."""
    if start not in weights or end not in weights:
        return 0.0
    pairs = zip(weights[start], weights[end])
    return math.sqrt(sum((b - a) ** 2 for one, two in pairs for a, b in zip(one.values, two.values)))


def _speed(records: Sequence[Record]) -> Speed | None:
    """Without the first steps, in which graphs are built and weights are broadcast."""
    count = min(len(record.times) for record in records)
    first = min(SETTLED, count - 2)
    if first < 0:
        return None
    slowest = max(record.times[count - 1] - record.times[first] for record in records)
    if slowest <= 0:
        return None
    samples = sum(record.samples(step) for record in records for step in range(first + 1, count))
    return Speed(len(records), (count - 1 - first) / slowest, samples / slowest if samples else None)


def _scaling(speeds: Sequence[Speed]) -> float | None:
    if len(speeds) < 2:
        return None
    ours, theirs = speeds
    if ours.samples is not None and theirs.samples is not None:
        return ours.samples / theirs.samples
    return ours.steps / theirs.steps
