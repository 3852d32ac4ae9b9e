"""`distml autofix`: a pull request with what can be mended, kept up to date."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from distml.engine.config import ConfigError
from distml.github import REPOSITORY
from distml.report.printing import complain, hand_over, say

if TYPE_CHECKING:
    from distml.autofix.extras import Extras
    from distml.autofix.proposal import Proposal
    from distml.autofix.publish import Outcome
    from distml.git.clone import Git

SUMMARY = "Open or update a pull request with safe fixes, and close it when nothing is left to fix."
TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml autofix`."""
    surroundings = os.environ
    parser.add_argument("paths", nargs="*", metavar="PATH", help="fix only what is below these paths of the repository")
    parser.add_argument("--repo", metavar="OWNER/NAME", default=surroundings.get("GITHUB_REPOSITORY"), help="on GitHub")
    parser.add_argument("--base", metavar="BRANCH", default="main", help="the branch to fix (default: main)")
    parser.add_argument("--branch", default="distml/autofix", help="the branch for the fixes (default: distml/autofix)")
    parser.add_argument("--remote", default="origin", help="the remote of this clone to push to (default: origin)")
    parser.add_argument("--fork", metavar="OWNER/NAME", help="push the branch to this fork of the repository")
    parser.add_argument("--fork-remote", default="fork", metavar="REMOTE", help="the remote that is the fork (fork)")
    _configure_extras(parser)
    parser.add_argument(
        "--sign", action="store_true", help="have GitHub sign the commit; needs the token of a job or of a GitHub App"
    )
    parser.add_argument("--no-draft", action="store_true", help="open pull requests ready for review")
    parser.add_argument(
        "--horovod", action="append", metavar="PATH", help="make the training programs below it distributed too"
    )
    parser.add_argument(
        "--backend",
        choices=("horovod", "ddp", "accelerate"),
        default="horovod",
        help="ddp: torch.distributed; both it and accelerate are for PyTorch",
    )
    parser.add_argument(
        "--smoke",
        metavar="PYTHON",
        help="with --compute: run what was made distributed in two processes of this Python; this runs your code",
    )
    parser.add_argument(
        "--api-url",
        metavar="URL",
        default=surroundings.get("GITHUB_API_URL", "https://api.github.com"),
        help="GitHub's API; for GitHub Enterprise https://HOST/api/v3",
    )
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--dry-run", action="store_true", help="print the patch and the description; change nothing")
    steps.add_argument("--compute", metavar="FILE", help="only write the fixes into FILE; needs no token")
    steps.add_argument("--apply", metavar="FILE", help="only publish the fixes that --compute wrote; runs no fixer")


def _configure_extras(parser: ArgumentParser) -> None:
    """What a new pull request gets; people change it as they like afterwards."""
    extras = parser.add_argument_group("for a new pull request (all but the milestone may be given again)")
    extras.add_argument("--label", action="append", metavar="LABEL", help="a label")
    extras.add_argument("--reviewer", action="append", metavar="LOGIN", help="a person to ask for a review")
    extras.add_argument("--team-reviewer", action="append", metavar="SLUG", help="a team to ask for a review")
    extras.add_argument("--assignee", action="append", metavar="LOGIN", help="a person to assign")
    extras.add_argument("--milestone", metavar="TITLE", default="", help="a milestone, by title or number")


def run(options: Namespace) -> int:
    """Do it; 0, or 2 where it cannot be done."""
    from distml.autofix.branch import MovedError
    from distml.autofix.proposal import ProposalError
    from distml.autofix.publish import BusyError
    from distml.autofix.signing import SigningError
    from distml.git.clone import GitError
    from distml.github.rest import ApiError
    from distml.writing.files import WriteError

    try:
        return _run(options)
    except (ApiError, GitError, ProposalError, BusyError, MovedError, SigningError, WriteError, OSError) as error:
        raise ConfigError(str(error)) from None


def _run(options: Namespace) -> int:
    git = _clone(options)
    if options.apply is None:
        proposal = _computed(git, options)
    else:
        proposal = _handed_over(options.apply)
    if options.dry_run:
        _show(git, proposal, options.branch)
    elif options.compute is not None:
        from distml.autofix.proposal import encode
        from distml.writing.files import File, roots_of, write_files

        write_files([File(options.compute, encode(proposal).encode())], roots_of([options.compute]))
        say(f"{len(proposal.changes)} files to change, {len(proposal.left)} places left as they are")
    else:
        outcome = _published(git, proposal, options)
        say(f"{outcome.result}: {outcome.said}")
    return 0


def _handed_over(path: str) -> Proposal:
    """What --compute wrote. Raises `ProposalError` for anything else, `OSError` where it cannot be read."""
    from distml.autofix.proposal import LARGEST, ProposalError, decode

    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    try:
        return decode(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ProposalError(f"not a proposal: {error}") from None


def _clone(options: Namespace) -> Git:
    """The clone in the working folder, after a look at the names given."""
    from distml.git.clone import Git, is_branch

    if options.repo is None or not REPOSITORY.fullmatch(options.repo):
        raise ConfigError(f"--repo must be OWNER/NAME, not {options.repo!r}")
    git = Git(os.curdir, "" if options.dry_run or options.compute else _token(), server(options.api_url))
    for name, value in (("--base", options.base), ("--branch", options.branch)):
        if not is_branch(git, value):
            raise ConfigError(f"{name}: no branch can be called {value!r}")
    if options.base == options.branch and options.fork is None:
        raise ConfigError(f"--base and --branch are both {options.base!r}: fixes need a branch of their own")
    if options.smoke and not options.compute:
        raise ConfigError("--smoke runs code of the repository, which must not run beside a token: use --compute")
    for name, value in (("--remote", options.remote), ("--fork-remote", options.fork_remote)):
        if value.startswith("-"):
            raise ConfigError(f"{name}: no remote can be called {value!r}")
    if options.fork is not None and not REPOSITORY.fullmatch(options.fork):
        raise ConfigError(f"--fork must be OWNER/NAME, not {options.fork!r}")
    return git


def server(api: str) -> str:
    """Where the repositories are whose API this is: `api.HOST`, or on GitHub Enterprise Server `HOST/api/v3`."""
    parts = urlsplit(api)
    return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"


def _computed(git: Git, options: Namespace) -> Proposal:
    from distml.autofix.branch import Remote
    from distml.autofix.compute import Fixer, compute
    from distml.autofix.fixes import fix_findings

    if options.dry_run or options.compute:
        base = _known_base(git, options)
    else:
        base = Remote(git, options.remote, options.base, options.branch).look().base
    fixers: list[Fixer] = [fix_findings]
    if options.horovod:
        from distml.autofix.horovod import Distribute

        fixers.append(Distribute(options.horovod, options.backend))
    proposal = compute(git, base, fixers, options.paths)
    return _tried(git, proposal, options.smoke) if options.smoke else proposal


def _tried(git: Git, proposal: Proposal, python: str) -> Proposal:
    """With smoke runs; whatever they run sees no token."""
    from distml.autofix.smoking import smoke_with, smoked
    from distml.smoke.model import Options

    for name in TOKENS:
        os.environ.pop(name, None)
    _warn(f"running the rewritten scripts with {python}")
    return smoked(git, proposal, smoke_with(python, Options()))


def _known_base(git: Git, options: Namespace) -> str:
    """The base as this clone knows it."""
    from distml.git.clone import GitError

    for name in (f"refs/remotes/{options.remote}/{options.base}", f"refs/heads/{options.base}"):
        try:
            return git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except GitError:
            continue
    raise ConfigError(f"this clone has no branch {options.base} of {options.remote}; fetch it first")


def _published(git: Git, proposal: Proposal, options: Namespace) -> Outcome:
    from distml.autofix.branch import Remote
    from distml.autofix.publish import Wanted, publish
    from distml.git.clone import leads_to
    from distml.github.objects import Objects
    from distml.github.pulls import Repository
    from distml.github.rest import Api

    remotes = [(options.remote, options.repo)] + ([(options.fork_remote, options.fork)] if options.fork else [])
    for remote, repository in remotes:
        if not leads_to(git, remote, repository):
            raise ConfigError(f"the remote {remote} of this clone is not {repository}")
    try:
        api = Api(options.api_url, _token())
    except ValueError as error:
        raise ConfigError(str(error)) from None
    owner, _, name = options.repo.partition("/")
    away = options.fork_remote if options.fork else ""
    branches = Remote(git, options.remote, options.base, options.branch, away)
    host = Repository(api, owner, name, options.fork.partition("/")[0] if options.fork else "")
    at, _, called = (options.fork or options.repo).partition("/")
    signs = Objects(api, at, called) if options.sign else None
    wanted = Wanted(draft=not options.no_draft, extras=_extras(options), warn=_warn, signs=signs)
    return publish(proposal, branches, host, wanted)


def _extras(options: Namespace) -> Extras:
    from distml.autofix.extras import Extras

    return Extras(
        options.label or (),
        options.reviewer or (),
        options.team_reviewer or (),
        options.assignee or (),
        options.milestone,
    )


def _show(git: Git, proposal: Proposal, branch: str) -> None:
    from distml.autofix.describe import body
    from distml.autofix.patch import patch

    hand_over(patch(git, proposal))
    hand_over(body(proposal, branch) + "\n" if proposal.changes else "nothing to fix\n")
    if not proposal.changes:
        for each in proposal.left:
            _warn(f"{each.path}:{each.line}: {each.rule} {each.why}")


def _token() -> str:
    token = next((value for name in TOKENS if (value := os.environ.get(name, "").strip())), "")
    if not token:
        raise ConfigError(f"no token: set {TOKENS[0]}, or try --dry-run")
    return token


def _warn(text: str) -> None:
    complain(f"distml: warning: {text}")
