"""Every way in which git's documentation lets a repository or the environment name something to run, set as a trap.

A trap is a program that notes its name. Keys are from git-config(1), gitattributes(5), githooks(5), git(1) and the pages of
the single commands.
"""

from __future__ import annotations

import os
from pathlib import Path

PLAIN = """\
core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand
pager.diff pager.log pager.config pager.show-ref pager.ls-tree pager.diff-tree pager.for-each-ref pager.rev-parse
diff.external diff.trap.command diff.trap.textconv difftool.trap.cmd difftool.trap.path
merge.trap.driver merge.default.driver mergetool.trap.cmd mergetool.trap.path guitool.trap.cmd
filter.trap.clean filter.trap.smudge filter.trap.process
credential.helper credential.https://github.com.helper
gpg.program gpg.openpgp.program gpg.x509.program gpg.ssh.program gpg.ssh.defaultKeyCommand
sequence.editor interactive.diffFilter
uploadpack.packObjectsHook gc.recentObjectsHook remote.trap.uploadpack remote.trap.receivepack
remote.origin.uploadpack remote.origin.receivepack
trailer.trap.command trailer.trap.cmd tar.trap.command
browser.trap.cmd browser.trap.path man.trap.cmd man.trap.path instaweb.httpd instaweb.browser
sendemail.smtpServer sendemail.sendmailCmd sendemail.toCmd sendemail.ccCmd sendemail.headerCmd imap.tunnel
""".split()
"""Keys whose value is a command."""

SHELL = """\
status checkout commit diff diff-tree fetch push ls-remote ls-tree ls-files rev-parse remote init cat-file hash-object
read-tree update-index write-tree commit-tree merge-base check-ignore check-ref-format for-each-ref config trapped
""".split()
"""Aliases, `!command`; git lets none of these but the last replace a command of its own."""

SETTINGS = {
    "core.excludesFile": "/dev/null",
    "diff.tool": "trap",
    "merge.tool": "trap",
    "web.browser": "trap",
    "help.browser": "trap",
    "man.viewer": "trap",
    "help.autoCorrect": "immediate",
    "filter.trap.required": "true",
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
    "push.gpgSign": "if-asked",
    "user.signingKey": "trap",
    "gpg.format": "openpgp",
    "submodule.recurse": "true",
    "fetch.recurseSubmodules": "true",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
    "diff.submodule": "diff",
    "core.splitIndex": "true",
    "maintenance.auto": "true",
    "gc.auto": "1",
}
"""What makes the others take effect."""

HOOKS = """\
applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist
p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change
""".split()

VARIABLES = """\
GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND
GIT_MAN_VIEWER PAGER EDITOR VISUAL BROWSER MANPAGER
""".split()
"""Variables whose value is a command."""


class Traps:
    """Programs in `folder`, one for each name; `sprung` are those that ran."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / "note"
        folder.mkdir()
        self.set: list[str] = []

    def program(self, name: str) -> str:
        """The path of a trap."""
        self.set.append(name)
        path = self._folder / f"{len(self.set)}"
        path.write_text(f"#!/bin/sh\necho '{name}' >> '{self._note}'\nexit 0\n")
        path.chmod(0o755)
        return str(path)

    @property
    def sprung(self) -> set[str]:
        return set(self._note.read_text().split("\n")) - {""} if self._note.exists() else set()

    def keys(self, origin: str = "") -> list[tuple[str, str]]:
        """All keys with their values; with an `origin`, addresses that begin so are led to a command too."""
        made = [(key, self.program(key)) for key in PLAIN]
        made += [(f"alias.{each}", f"!{self.program(f'alias.{each}')}") for each in SHELL]
        made += [
            ("core.hooksPath", self.hooks("core.hooksPath")),
            ("remote.trap.url", f"ext::{self.program('remote.trap.url')}"),
            ("remote.vcs.url", "x"),
            ("remote.vcs.vcs", "ext"),
            ("submodule.trap.url", "https://github.com/o/r"),
            ("submodule.trap.update", f"!{self.program('submodule.trap.update')}"),
            ("init.templateDir", str(Path(self.hooks("init.templateDir")).parent)),
            *SETTINGS.items(),
        ]
        if origin:
            made += [
                (f"url.ext::{self.program('url.insteadOf')} .insteadOf", origin),
                (f"url.ext::{self.program('url.pushInsteadOf')} .pushInsteadOf", origin),
            ]
        return made

    def hooks(self, name: str) -> str:
        """A folder with every hook."""
        folder = self._folder / f"of-{name}" / "hooks"
        folder.mkdir(parents=True)
        self.fill(folder, name)
        return str(folder)

    def fill(self, folder: Path, name: str) -> None:
        """Put every hook into a folder."""
        for hook in HOOKS:
            (folder / hook).unlink(missing_ok=True)
            os.symlink(self.program(f"{name}/{hook}"), folder / hook)

    def configure(self, git_folder: Path, extra: str = "", origin: str = "") -> None:
        """Set all of it in a repository, half in its configuration and half in a file that this includes."""
        half = git_folder / "more"
        keys = self.keys(origin)
        half.write_text(_written(keys[::2]))
        with (git_folder / "config").open("a") as file:
            file.write(f"{extra}[include]\n\tpath = {half}\n{_written(keys[1::2])}")
        (git_folder / "hooks").mkdir(exist_ok=True)
        self.fill(git_folder / "hooks", "hooks")
        (git_folder / "info").mkdir(exist_ok=True)
        (git_folder / "info" / "attributes").write_text("* filter=trap diff=trap merge=trap\n")

    def environment(self) -> dict[str, str]:
        """All of it as variables."""
        made = {name: self.program(name) for name in VARIABLES}
        keys = self.keys()
        file = self._folder / "global"
        file.write_text(_written(keys))
        made |= {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(keys)}
        made |= {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(keys)}
        given = {"GIT_CONFIG_COUNT": str(len(keys)), "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{keys[0][1]}'"}
        given |= dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG"), str(file))
        given |= {
            "GIT_TEMPLATE_DIR": str(Path(self.hooks("GIT_TEMPLATE_DIR")).parent),
            "GIT_ALLOW_PROTOCOL": "ext:file",
        }
        given |= {
            "GIT_EXEC_PATH": self._commands(),
            "GIT_TRACE": str(self._folder / "traced"),
            "GIT_OPTIONAL_LOCKS": "1",
        }
        return made | given

    def _commands(self) -> str:
        folder = self._folder / "commands"
        folder.mkdir()
        for name in (*SHELL, "remote-https", "remote-ext", "upload-pack", "receive-pack"):
            os.symlink(self.program(f"GIT_EXEC_PATH/git-{name}"), folder / f"git-{name}")
        return str(folder)


def _written(keys: list[tuple[str, str]]) -> str:
    lines = []
    for key, value in keys:
        section, _, rest = key.partition(".")
        part, _, name = rest.rpartition(".")
        lines.append(f'[{section} "{part}"]' if part else f"[{section}]")
        lines.append(f"\t{name} = {value}")
    return "\n".join(lines) + "\n"
