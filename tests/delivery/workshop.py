"""A bare repository, a clone of it, a fake GitHub over it, and people who push."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from distml.autofix.branch import Commit, Remote
from distml.autofix.compute import compute
from distml.autofix.extras import Extras
from distml.autofix.fixes import fix_findings
from distml.autofix.proposal import Proposal
from distml.autofix.publish import Outcome, Wanted, publish
from distml.git.clone import Git
from distml.github.objects import Objects
from distml.github.pulls import Repository

from delivery.fake_github import Direct, Forge
from delivery.repositories import PERSON, git

BASE, BRANCH = "main", "distml/autofix"
BAD = "  # distml: ignore[SHP101]"
"""What makes a line of Python that `distml autofix` mends."""

EXTRAS = Extras(("distml",), ("ann",), ("core",), ("bob",), "next")


class RacingRemote(Remote):
    """A remote at which something happens just before a push arrives."""

    meanwhile: Callable[[], None] = staticmethod(lambda: None)

    def push(self, new: str, replaced: Commit | None) -> None:
        self._now()
        super().push(new, replaced)

    def delete(self, replaced: Commit) -> None:
        self._now()
        super().delete(replaced)

    def _now(self) -> None:
        happens, self.meanwhile = self.meanwhile, lambda: None
        happens()


class Workshop:
    """All of it, in a folder."""

    def __init__(self, folder: Path, fork: str = "") -> None:
        """`fork`: who owns the fork that the branch of fixes lives in; none if empty."""
        self.bare, self.clone, self.fork = folder / "remote.git", folder / "clone", fork
        self.home = folder / "fork.git" if fork else self.bare
        for each in dict.fromkeys((self.bare, self.home)):
            git(folder, "init", "-q", "--bare", "--template=", "-b", BASE, str(each))
        self.commit(BASE, {"a.py": f"x = 1{BAD}\n", "b.py": "y = 1\n", "notes.txt": f"x = 1{BAD}\n"})
        git(folder, "clone", "-q", "--template=", str(self.bare), str(self.clone))
        self.forge = Forge(self.bare)
        if fork:
            self.forge.forks[fork] = self.home  # all repositories of a network share their objects, as on GitHub
            (self.home / "objects" / "info").mkdir(exist_ok=True)
            (self.home / "objects" / "info" / "alternates").write_text(f"{self.bare / 'objects'}\n")
            git(self.clone, "remote", "add", "fork", str(self.home))
        self.api = Direct(self.forge)
        self.warnings: list[str] = []

    def commit(self, branch: str, files: dict[str, str], amend: bool = False) -> str:
        """A person's commit on a branch; what it was."""
        bare = self.at(branch)
        tip = git(bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        entries = {}
        for row in git(bare, "ls-tree", tip).splitlines() if tip else ():
            entries[row.partition("\t")[2]] = row.partition("\t")[0]
        for name, text in files.items():
            blob = git(bare, "hash-object", "-w", "--stdin", data=text)
            entries[name] = f"100644 blob {blob}"
        listed = "".join(f"{entry}\t{name}\n" for name, entry in entries.items())
        tree = git(bare, "mktree", data=listed)
        parents = git(bare, "log", "-1", "--format=%P", tip).split() if amend else [tip] if tip else []
        message = git(bare, "log", "-1", "--format=%B", tip) if amend else "by a person"
        given = [part for parent in parents for part in ("-p", parent)]
        new = git(bare, "commit-tree", tree, *given, data=message, who=PERSON)
        git(bare, "update-ref", f"refs/heads/{branch}", new)
        return new

    def tip(self, branch: str = BRANCH) -> str | None:
        return self.forge.tip(f"{self.fork}:{branch}" if self.fork and branch != BASE else branch)

    def at(self, branch: str) -> Path:
        """The repository that a branch lives in."""
        return self.bare if branch == BASE else self.home

    def files(self, revision: str) -> dict[str, str]:
        names = git(self.at(revision), "ls-tree", "--name-only", revision).splitlines()
        return {name: self.show(revision, name) for name in names}

    def show(self, revision: str, name: str) -> str:
        command = ["git", "cat-file", "blob", f"{revision}:{name}"]
        return subprocess.run(command, cwd=self.at(revision), capture_output=True, text=True, check=True).stdout

    def proposal(self) -> Proposal:
        """What there is to mend in the base now."""
        remote = self.remote()
        return compute(remote.git, remote.look().base, [fix_findings])

    def remote(self) -> RacingRemote:
        return RacingRemote(Git(str(self.clone)), "origin", BASE, BRANCH, "fork" if self.fork else "")

    def run(
        self,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], None] | None = None,
        extras: Extras = EXTRAS,
        sign: bool = False,
    ) -> Outcome:
        """One run of autofix."""
        remote = self.remote()
        if meanwhile is not None:
            remote.meanwhile = meanwhile
        host = Repository(self.api, "o", "r", self.fork)
        signs = Objects(self.api, self.fork or "o", "r") if sign else None
        wanted = Wanted(extras=extras, warn=self.warnings.append, signs=signs)
        return publish(self.proposal() if proposal is None else proposal, remote, host, wanted)
