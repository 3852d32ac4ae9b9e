"""git as a process: no working tree, no hooks, no prompts, and a token that stands in no command line.

Names of branches and files are always arguments, never part of a script; a name cannot be taken for an option, because it
follows `--` or begins with `refs/`.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Mapping
from urllib.parse import urlsplit

TIMEOUT = 300.0
NAME, EMAIL = "distml", "distml@users.noreply.github.com"
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "protocol.ext.allow=never",
)


class GitError(Exception):
    """git refused; the message is what it said, without the token."""


class Git:
    """The repository in `folder`. `token` is sent to `server` only, when git speaks to it over HTTP."""

    def __init__(self, folder: str, token: str = "", server: str = "https://github.com") -> None:
        self.folder = folder
        self._secrets = [token] if token else []
        self._environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **_identity()}
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GITHUB_TOKEN", "GH_TOKEN"):
            self._environment.pop(name, None)
        if token:
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            self._secrets.append(basic)
            self._environment |= _header(f"http.{server.rstrip('/')}/.extraheader", f"AUTHORIZATION: basic {basic}")

    def run(self, *arguments: str, data: bytes = b"", index: str | None = None) -> bytes:
        """What git printed. Raises `GitError`."""
        settings = [part for each in _SETTINGS for part in ("-c", each)]
        environment = self._environment if index is None else {**self._environment, "GIT_INDEX_FILE": index}
        try:
            done = subprocess.run(
                ["git", *settings, *arguments],
                cwd=self.folder,
                env=environment,
                input=data,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitError(f"git {arguments[0]}: {self._hidden(str(error))}") from None
        if done.returncode:
            said = self._hidden(done.stderr.decode("utf-8", "backslashreplace").strip())
            raise GitError(f"git {arguments[0]}: {said or f'exit code {done.returncode}'}")
        return done.stdout

    def text(self, *arguments: str, data: bytes = b"", index: str | None = None) -> str:
        """What git printed, as one text without the last line end."""
        return os.fsdecode(self.run(*arguments, data=data, index=index)).rstrip("\n")

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
    """Whether `remote` may be the repository `owner/name`: a path on this machine, or an address that ends so."""
    address = git.text("remote", "get-url", "--push", "--", remote)
    path = urlsplit(address).path if "://" in address else address.partition(":")[2]
    if not path or address.startswith(("/", ".", "file://")):
        return True
    return re.sub(r"(\.git)?/?$", "", path).strip("/").lower().endswith(repository.lower())


def _header(key: str, value: str) -> Mapping[str, str]:
    """Settings of git that send a header, behind those that the environment has already.

    The empty value before it takes back the header that a checkout may have left in the configuration: GitHub refuses two.
    """
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    pairs = [(key, ""), (key, value)]
    numbered = {f"GIT_CONFIG_KEY_{first + n}": name for n, (name, _) in enumerate(pairs)}
    numbered |= {f"GIT_CONFIG_VALUE_{first + n}": text for n, (_, text) in enumerate(pairs)}
    return {"GIT_CONFIG_COUNT": str(first + len(pairs)), **numbered}


def _identity() -> Mapping[str, str]:
    return {
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
    }
