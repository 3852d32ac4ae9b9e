"""What the aspect runs: distml from the sources of this module, under an interpreter that a repository rule names.

`distml_python` makes the repository with the interpreter and, if wheels are given, the packages that distml needs
(z3-solver, libcst and what they need). `distml_program` packs the sources, compiled, into one file and starts them from it.
"""

_ASK = """
import sys
from importlib.metadata import version
assert sys.version_info >= (3, 11), "it is Python %d.%d" % sys.version_info[:2]
import libcst, z3
print("Python", sys.version.split()[0], "libcst", version("libcst"), "z3-solver", version("z3-solver"))
"""

_WRAPPER = """#!/bin/sh
# {versions}
exec '{python}' {flags} "$@"
"""

_BUILD = """package(default_visibility = ["//visibility:public"])

exports_files(["python"])

filegroup(
    name = "packages",
    srcs = glob(["packages/**"], allow_empty = True, exclude = ["**/* *"]),
)
"""

def _python_impl(rctx):
    python = rctx.path(rctx.attr.interpreter) if rctx.attr.interpreter else rctx.os.environ.get("DISTML_PYTHON")
    python = python or rctx.which("python3")
    if not python:
        fail("distml needs Python 3.11 or newer: there is no python3 on the PATH, and DISTML_PYTHON is not set")
    for wheel in rctx.attr.wheels:
        rctx.extract(_as_zip(rctx, wheel), output = "packages")
    flags = "-S" if rctx.attr.wheels else "-s"
    environment = {"PYTHONPATH": str(rctx.path("packages")) if rctx.attr.wheels else ""}
    asked = rctx.execute([python, flags, "-c", _ASK], environment = environment)
    if asked.return_code:
        fail("{} cannot run distml, which needs Python 3.11 or newer with libcst and z3-solver:\n{}".format(python, asked.stderr))
    wrapper = _WRAPPER.format(versions = asked.stdout.strip(), python = python, flags = flags)
    rctx.file("python", wrapper, executable = True)
    rctx.file("BUILD.bazel", _BUILD)

def _as_zip(rctx, wheel):
    """A wheel under a name by which Bazel knows what it is."""
    path = rctx.path(wheel)
    link = path.basename + ".zip"
    rctx.symlink(path, link)
    return link

distml_python = repository_rule(
    doc = """The interpreter that runs distml, and packages for it.

    By default that of $DISTML_PYTHON, else python3 on the PATH, with the packages installed there. With `wheels`, it sees
    the packages in them and no others, and they are inputs of every check.""",
    implementation = _python_impl,
    attrs = {
        "interpreter": attr.label(allow_single_file = True, doc = "A Python 3.11 or newer."),
        "wheels": attr.label_list(allow_files = [".whl"], doc = "z3-solver, libcst, and what they need."),
    },
    environ = ["DISTML_PYTHON", "PATH"],
    configure = True,
    local = True,
)

_START = """#!/bin/sh
files="$0.runfiles"
[ -d "$files" ] || files="$RUNFILES_DIR"
PYTHONPATH="$files/{code}:$files/{packages}"
PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 PYTHONHASHSEED=0
export PYTHONPATH PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE PYTHONNOUSERSITE PYTHONHASHSEED
if [ -n "$BUILD_WORKING_DIRECTORY" ]; then cd "$BUILD_WORKING_DIRECTORY" || exit 2; fi  # of `bazel run`
exec "$files/{python}" -m {command} "$@"
"""

def _worker_impl(ctx):
    code = ctx.actions.declare_file(ctx.label.name + ".zip")
    args = ctx.actions.args()
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    args.add(code)
    args.add_all(ctx.files.sources)
    ctx.actions.run(
        mnemonic = "DistmlPack",
        executable = ctx.executable.python,
        arguments = [ctx.file._pack.path, args],
        inputs = [ctx.file._pack] + ctx.files.sources,
        outputs = [code],
        progress_message = "Packing distml",
    )
    start = ctx.actions.declare_file(ctx.label.name)
    python = ctx.executable.python
    ctx.actions.write(
        start,
        _START.format(
            code = _runfile(ctx, code),
            command = ctx.attr.command,
            packages = _runfile(ctx, python).rpartition("/")[0] + "/packages",
            python = _runfile(ctx, python),
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [code, python] + ctx.files.packages)
    return [DefaultInfo(executable = start, runfiles = runfiles)]

def _runfile(ctx, file):
    """Where a file lies below the folder of the runfiles."""
    if file.short_path.startswith("../"):
        return file.short_path[len("../"):]
    return ctx.workspace_name + "/" + file.short_path

distml_program = rule(
    doc = "Runs distml: by default as actions call it, as a persistent worker or once.",
    implementation = _worker_impl,
    attrs = {
        "command": attr.string(default = "distml.cli.worker", doc = "A module, and arguments that come before others."),
        "packages": attr.label(doc = "Packages beside the interpreter, in a folder `packages`."),
        "python": attr.label(executable = True, allow_single_file = True, cfg = "exec", mandatory = True),
        "sources": attr.label(allow_files = [".py"], mandatory = True),
        "_pack": attr.label(default = ":pack.py", allow_single_file = True),
    },
    executable = True,
)
