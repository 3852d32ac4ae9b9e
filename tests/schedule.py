"""How the tests are shared out among the processes of a run with `-n`.

The tests of a file run in one process, one after the other: what a fixture or a cache of the file holds is made once. So do
those of several files that share what takes long to make. What takes longest begins first, so that in the end no process
waits for another. The test in which a process ended has failed, and does not run again.
"""

from __future__ import annotations

from itertools import chain

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

TOGETHER = {
    "tests/container/": ("tests/container/",),
    "tests/bazel/": ("tests/bazel/",),
    "tests/spmd/": ("tests/spmd/",),
    "tests/browser/": ("tests/browser/",),
    "tests/delivery/test_nightly.py": ("tests/delivery/test_nightly.py", "tests/delivery/test_pages.py"),
    "tests/ops/test_torch_": (
        "tests/ops/test_nn_oracle.py",
        "tests/ops/test_torch_join.py",
        "tests/ops/test_torch_linalg.py",
        "tests/ops/test_torch_matmul.py",
        "tests/ops/test_torch_pointwise.py",
        "tests/ops/test_torch_samples.py",
        "tests/ops/test_torch_view.py",
        "tests/gradual/test_demands.py",
        "tests/gradual/test_shapes.py",
    ),
}
"""What begins alike shares one image, one server of Bazel, two processes that hold torch, one browser, torch's table of samples,
which takes 10 s to load. A nightly run and a sweep, which ends whatever such a run has started on the machine, must not meet."""
FIRST = (
    "tests/container/",
    "tests/bazel/",
    "tests/spmd/",
    "tests/delivery/test_action_caches.py",
    "tests/horovod/tape/",
    "tests/test_pairs_run_for_real.py",
    "tests/browser/",
    "tests/horovod/",
    "tests/smoke/",
    "tests/ops/test_torch_",
    "tests/delivery/",
    "tests/cli/",
    "tests/docs/",
    "tests/engine/",
)
"""What takes longest, by how names begin; of the rest, files with many tests come first."""


class Schedule(LoadScopeScheduling):
    """Whole files, the longest first."""

    def _split_scope(self, nodeid: str) -> str:
        shared = (unit for unit, names in TOGETHER.items() if nodeid.startswith(names))
        return next(shared, nodeid.partition("::")[0])

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=self._place), last=False)
        super()._assign_work_unit(node)

    def _place(self, unit: str) -> tuple[int, int]:
        place = next((place for place, name in enumerate(FIRST) if unit.startswith(name)), len(FIRST))
        return place, -len(self.workqueue[unit])

    def remove_node(self, node: WorkerController) -> str | None:
        """Share out what is left of a process that ended; the test that it ended in, if it ran one."""
        left = self.assigned_work.pop(node)
        tests = chain.from_iterable(unit.items() for unit in left.values())
        ended = next((test for test, done in tests if not done), None)
        if ended is not None:
            left[self._split_scope(ended)][ended] = True
            self.workqueue.update({unit: tests for unit, tests in left.items() if not all(tests.values())})
            for other in self.assigned_work:
                self._reschedule(other)
        return ended
