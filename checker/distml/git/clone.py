"""git as a process that runs nothing but itself, whatever the repository says.

A repository's own configuration can name commands for nearly everything git does: hooks, filters, file system monitors,
helpers for connections. So git works in a repository of ours, made for the purpose and empty but for the way to the objects
of the clone: the configuration, attributes, hooks and working tree of the clone are never in effect, and nothing is written
to it. The clone itself is only asked for names (`Git.ask`), by commands that need no connection, in surroundings without
hooks and monitors. Git's variables of the caller's environment are left out; the configuration of the person and of the
machine holds, since whoever can write that can run programs anyway.

Names of branches and files are always arguments, never part of a script; a name cannot be taken for an option, because it
follows `--` or begins with `refs/`.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Mapping
from functools import cached_property
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

TIMEOUT = 300.0
NAME, EMAIL = "distml", "distml@users.noreply.github.com"
PROTOCOLS = "file:git:http:https:ssh"
_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.pager=cat",
    "core.alternateRefsCommand=true",  # it would list those of the clone, by its configuration; ours has them
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
)
_WITHOUT = ("GITHUB_TOKEN", "GH_TOKEN", "SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "BROWSER")
_NAMED = re.compile(r"/?([^/]+/[^/]+?)(?:\.git)?/?", re.ASCII)


class GitError(Exception):
    """git refused; the message is what it said, without the token."""


class MissingError(GitError):
    """There is no git."""


class Git:
    """The repository around `folder`. `token` is sent to `server` only, when git speaks to it over HTTP."""

    def __init__(self, folder: str, token: str = "", server: str = "https://github.com") -> None:
        self.folder = folder
        self._secrets = [token] if token else []
        self._environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith("GIT_") and name not in _WITHOUT
            },
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": ":",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",  # a clone may say that one commit stands for another
            "GIT_DEFAULT_REF_FORMAT": "files",
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "LC_ALL": "C",
            **_identity(),
        }
        self._header: Mapping[str, str] = {}
        if token:
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            self._secrets.append(basic)
            self._header = _header(f"http.{server.rstrip('/')}/.extraheader", f"AUTHORIZATION: basic {basic}")

    def run(self, *arguments: str, data: bytes = b"", index: str | None = None) -> bytes:
        """What git printed, with the objects of the clone and nothing else of it. Raises `GitError`."""
        environment = {"GIT_DIR": self._own.name, **self._header}
        if index is not None:
            environment["GIT_INDEX_FILE"] = index
        return self._ran(arguments, self._own.name, environment, data)

    def text(self, *arguments: str, data: bytes = b"", index: str | None = None) -> str:
        """What git printed, as one text without the last line end."""
        return os.fsdecode(self.run(*arguments, data=data, index=index)).rstrip("\n")

    def ask(self, *arguments: str) -> str:
        """What git says of the clone: names of commits and folders, addresses. It connects to nowhere meanwhile."""
        none = {"GIT_ALLOW_PROTOCOL": "none"}
        return os.fsdecode(self._ran(arguments, self.folder, none, b"")).removesuffix("\n")

    def address(self, remote: str, push: bool = False) -> str:
        """Where a remote of the clone is; a path on this machine is absolute. Raises `GitError`."""
        said = self.ask("remote", "get-url", *(["--push"] if push else []), "--", remote)
        if "://" in said or ":" in said.partition("/")[0]:
            return said
        return os.path.join(os.path.realpath(self.folder), self.ask("rev-parse", "--show-cdup"), said)

    @cached_property
    def _own(self) -> TemporaryDirectory[str]:
        """The repository that git works in; it is removed with this object."""
        place = os.path.realpath(self.folder)
        objects, shallow = (
            os.path.join(place, self.ask("rev-parse", "--git-path", name)) for name in ("objects", "shallow")
        )
        form = self.ask("rev-parse", "--show-object-format")
        tips = self.ask("for-each-ref", "--format=%(objectname) %(refname)")
        made = TemporaryDirectory(prefix="distml-git-")
        self._ran(
            ("init", "--quiet", "--bare", "--template=", f"--object-format={form}", made.name), made.name, {}, b""
        )
        with open(os.path.join(made.name, "objects", "info", "alternates"), "wb") as file:
            file.write(_quoted(objects) + b"\n")
        with open(os.path.join(made.name, "packed-refs"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{tips}\n" if tips else "")
        if os.path.isfile(shallow):
            with open(shallow, "rb") as source, open(os.path.join(made.name, "shallow"), "wb") as target:
                target.write(source.read())
        return made

    def _ran(self, arguments: tuple[str, ...], folder: str, environment: Mapping[str, str], data: bytes) -> bytes:
        settings = [part for each in _SETTINGS for part in ("-c", each)]
        try:
            done = subprocess.run(
                ["git", "--no-pager", *settings, *arguments],
                cwd=folder,
                env={**self._environment, **environment},
                input=data,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            if isinstance(error, FileNotFoundError) and error.filename == "git":
                raise MissingError("git is not installed, or not on the PATH") from None
            raise GitError(f"git {arguments[0]}: {self._hidden(str(error))}") from None
        if done.returncode:
            said = self._hidden(done.stderr.decode("utf-8", "backslashreplace").strip())
            raise GitError(f"git {arguments[0]}: {said or f'exit code {done.returncode}'}")
        return done.stdout

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def is_branch(git: Git, name: str) -> bool:
    """Whether git allows a branch of this name."""
    try:
        git.run("check-ref-format", f"refs/heads/{name}")
    except GitError:
        return False
    return not name.startswith("-") and name != "HEAD"


def leads_to(git: Git, remote: str, repository: str) -> bool:
    """Whether a push to `remote` reaches the repository `owner/name`: by its address, or a path on this machine.

    A path into the clone is none: what lies there came with the clone.
    """
    address = git.address(remote, push=True)
    if address.startswith(("/", "file://")):
        place = os.path.realpath(address.removeprefix("file://"))
        top = os.path.realpath(git.ask("rev-parse", "--show-toplevel"))
        return os.path.commonpath([place, top]) != top
    return named(address) == repository.lower()


def named(address: str) -> str | None:
    """The `owner/name` that an address of git leads to, in lower case; None where its path is another."""
    path = urlsplit(address).path if "://" in address else address.partition(":")[2]
    found = _NAMED.fullmatch(path)
    return found[1].lower() if found else None


def _quoted(path: str) -> bytes:
    """A path as git reads it in quotes, whatever bytes it has."""
    return b'"' + re.sub(rb'["\\\n]', lambda found: b"\\%03o" % found[0][0], os.fsencode(path)) + b'"'


def _header(key: str, value: str) -> Mapping[str, str]:
    """Settings of git that send a header.

    The empty value before it takes back a header that the configuration may have already: GitHub refuses two.
    """
    pairs = [(key, ""), (key, value)]
    numbered = {f"GIT_CONFIG_KEY_{n}": name for n, (name, _) in enumerate(pairs)}
    numbered |= {f"GIT_CONFIG_VALUE_{n}": text for n, (_, text) in enumerate(pairs)}
    return {"GIT_CONFIG_COUNT": str(len(pairs)), **numbered}


def _identity() -> Mapping[str, str]:
    return {
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
    }
