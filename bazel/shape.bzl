"""`check`: an aspect that checks each Python target with distml. `distml_test`: the same as a test.

    bazel build --aspects=@distml//bazel:shape.bzl%check //...

Findings fail the build by an action of their own, the gate; the reports are made whether there are findings or not. Both
are built where no output group is named. The groups `distml_json`, `distml_text`, `distml_patch`, `distml_sarif`, and
`distml_report` for the first three, have the gates too: what is checked does not depend on what is asked for.

A target depends on the *essence* of the files below it (what they mean, without comments and layout) and on their text
only where its report shows a place in them. So a comment edit reruns one target, and other edits what read the file.

It names no provider of rules_python, and serves Bazel 4 to 8.
"""

load(":flags.bzl", "CodesInfo", "SwitchInfo")

DistmlInfo = provider(
    doc = "What the checks of a target hand to those of the targets that depend on it.",
    fields = {
        "sources": "depset of File: its Python files and those below it",
        "essences": "depset of File: the digests of what these files mean",
        "roots": "depset of string: folders from which they are imported",
        "text": "depset of File: the reports of it and of the targets below it, for people",
        "json": "depset of File: the same as JSON",
        "patch": "depset of File: the same, the fixes",
        "sarif": "depset of File: the same as SARIF",
        "gates": "depset of File: made only where there are no findings",
    },
)

_REPORTS = ["text", "json", "patch", "sarif", "gates"]
_OUTPUTS = ["essence", "txt", "json", "patch", "results", "unused", "sarif", "ok"]
_WORKER = {"supports-workers": "1"}

def _check_impl(target, ctx):
    info = _checked(target, ctx, "distml")
    gates = depset() if ctx.attr._report_only[SwitchInfo].on else info.gates
    groups = {name: depset(transitive = [files, gates]) for name, files in _groups(info).items()}
    groups[_unasked(target)] = groups["distml_report"]

    # Newer Bazels build this one whatever groups are asked for.
    return [info, OutputGroupInfo(_validation = gates, **groups)]

def _report_impl(target, ctx):
    info = _checked(target, ctx, "distml_test")
    return [info, OutputGroupInfo(**_groups(info))]

def _unasked(target):
    """An output group of an aspect that every Bazel builds unless others are asked for.

    It is `default`. Where the target has one of its own, the two could not be merged; the other that is built unasked is
    that of temporary files, which only rules for C++ have.
    """
    taken = OutputGroupInfo in target and hasattr(target[OutputGroupInfo], "default")
    return "temp_files_INTERNAL_" if taken else "default"

def _groups(info):
    """The output groups of reports. Those of targets below belong to them, as their findings do to the gates."""
    return {
        "distml_text": info.text,
        "distml_json": info.json,
        "distml_patch": info.patch,
        "distml_sarif": info.sarif,
        "distml_report": depset(transitive = [info.text, info.json, info.patch]),
    }

def _checked(target, ctx, family):
    """The actions for a target. `family` is in the names of what they make, so that two aspects do not make the same."""
    output = {kind: "{}.{}.{}".format(target.label.name, family, kind) for kind in _OUTPUTS}
    below = [dep[DistmlInfo] for dep in getattr(ctx.rule.attr, "deps", []) if DistmlInfo in dep]
    sources = depset(transitive = [info.sources for info in below])
    roots = depset(transitive = [info.roots for info in below])
    own = _own_sources(ctx)
    essences = depset(transitive = [info.essences for info in below])
    made = {kind: [] for kind in _REPORTS}
    if own:
        # What two repositories have by the same name is the target's own: the order of deps does not decide.
        own_roots = depset(_own_roots(target, ctx), transitive = [roots], order = "preorder")
        checked = [file for file in own if file.is_source]
        if checked and not target.label.workspace_root and "no-distml" not in ctx.rule.attr.tags:
            made = _check(target, ctx, output, checked, depset(own, transitive = [sources]), essences, own_roots)
        essences = depset([_essence(target, ctx, output, own)], transitive = [essences])
        sources = depset(own, transitive = [sources])
        roots = own_roots
    reports = {
        kind: depset(made[kind], transitive = [getattr(info, kind) for info in below])
        for kind in _REPORTS
    }
    return DistmlInfo(sources = sources, essences = essences, roots = roots, **reports)

def _own_sources(ctx):
    """The Python files of a target; none for rules that are not Python's, and for installed packages.

    What is installed is unknown to distml, in Bazel as elsewhere: it knows the libraries themselves.
    """
    if not (hasattr(ctx.rule.attr, "imports") and hasattr(ctx.rule.files, "srcs")):
        return []
    return [
        file
        for file in ctx.rule.files.srcs
        if file.extension == "py" and "/site-packages/" not in file.path and "/dist-packages/" not in file.path
    ]

def _own_roots(target, ctx):
    """The folders that `imports` of a target adds to the path, and that of its repository: of sources and of outputs."""
    repository = target.label.workspace_root
    folders = [repository]
    for entry in ctx.rule.attr.imports:
        folder = _normal([repository, target.label.package, entry])
        if folder != None:
            folders.append(folder)
    return folders + ["/".join([part for part in (ctx.bin_dir.path, folder) if part]) for folder in folders]

def _normal(parts):
    """A path from its parts without `.` and `..`; None where it leaves the execution root."""
    found = []
    for part in "/".join(parts).split("/"):
        if part == ".." and not found:
            return None
        elif part == "..":
            found.pop()
        elif part not in ("", "."):
            found.append(part)
    return "/".join(found)

def _request(ctx):
    """The arguments of one request: always in a file, as a persistent worker is sent them."""
    args = ctx.actions.args()
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    return args

def _run(ctx, args, what, **more):
    ctx.actions.run(
        mnemonic = "Distml",
        executable = ctx.executable._tool,
        arguments = [args],
        progress_message = what,
        execution_requirements = _WORKER,
        **more
    )

def _essence(target, ctx, output, own):
    essence = ctx.actions.declare_file(output["essence"])
    args = _request(ctx)
    args.add(essence, format = "--essence=%s")
    args.add_all(own, format_each = "--check=%s")
    _run(ctx, args, "Reading {}".format(target.label), inputs = own, outputs = [essence])
    return essence

def _check(target, ctx, output, checked, sources, essences, roots):
    text, json, patch, results, unused = [
        ctx.actions.declare_file(output[kind])
        for kind in ("txt", "json", "patch", "results", "unused")
    ]
    args = _request(ctx)
    args.add(text, format = "--text=%s")
    args.add(json, format = "--json=%s")
    args.add(patch, format = "--patch=%s")
    args.add(results, format = "--results=%s")
    args.add(unused, format = "--unused=%s")
    args.add_all(ctx.files._config, format_each = "--config=%s")
    args.add_all(ctx.attr._select[CodesInfo].codes, format_each = "--select=%s")
    args.add_all(ctx.attr._ignore[CodesInfo].codes, format_each = "--ignore=%s")
    args.add_all(roots, format_each = "--root=%s")
    args.add_all(checked, format_each = "--check=%s")
    args.add_all(essences, format_each = "--essences=%s")
    args.add_all(sources, format_each = "--context=%s")
    _run(
        ctx,
        args,
        "Checking {}".format(target.label),
        inputs = depset(ctx.files._config, transitive = [sources, essences]),
        outputs = [text, json, patch, results, unused],
        unused_inputs_list = unused,
    )
    return {
        "text": [text],
        "json": [json],
        "patch": [patch],
        "sarif": [_sarif(target, ctx, output, results)],
        "gates": [_gate(target, ctx, output, text)],
    }

def _sarif(target, ctx, output, results):
    """SARIF carries the help of all rules; it is made only where the output group is asked for."""
    sarif = ctx.actions.declare_file(output["sarif"])
    args = _request(ctx)
    args.add(sarif, format = "--sarif=%s")
    args.add(results, format = "--results=%s")
    _run(ctx, args, "Writing SARIF of {}".format(target.label), inputs = [results], outputs = [sarif])
    return sarif

def _gate(target, ctx, output, text):
    """A second, tiny action that fails where there are findings, so that the one that reports them does not."""
    gate = ctx.actions.declare_file(output["ok"])
    ctx.actions.run_shell(
        mnemonic = "DistmlGate",
        command = 'if [ -s "$1" ]; then cat "$1" >&2; exit 1; fi; : > "$2"',
        arguments = [text.path, gate.path],
        inputs = [text],
        outputs = [gate],
        progress_message = "Findings of {}".format(target.label),
        execution_requirements = {"no-sandbox": "1"},  # it reads one file, and what a sandbox says hides the findings
    )
    return gate

_ATTRS = {
    "_config": attr.label(default = ":config", allow_files = True),
    "_ignore": attr.label(default = ":ignore"),
    "_report_only": attr.label(default = ":report_only"),
    "_select": attr.label(default = ":select"),
    "_tool": attr.label(default = ":tool", executable = True, allow_files = True, cfg = "exec"),
}

check = aspect(
    doc = "Checks Python targets and those below them; findings fail the build.",
    implementation = _check_impl,
    attr_aspects = ["deps"],
    attrs = _ATTRS,
)

report = aspect(
    doc = "As `check`, but findings fail nothing: for rules that use the reports.",
    implementation = _report_impl,
    attr_aspects = ["deps"],
    attrs = _ATTRS,
)

def _test_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    lines = ["#!/bin/sh", "code=0"]
    reports = {src.label: src[DistmlInfo].text if DistmlInfo in src else depset() for src in ctx.attr.srcs}
    for label, found in reports.items():
        if not found.to_list():
            lines.append("echo {}; code=1".format(_quoted("Nothing in {} was checked.".format(label))))
    everything = depset(transitive = reports.values())
    for report in everything.to_list():
        lines.append("if [ -s {0} ]; then cat {0}; code=1; fi".format(_quoted("./" + report.short_path)))
    ctx.actions.write(script, "\n".join(lines + ["exit $code", ""]), is_executable = True)
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(transitive_files = everything))]

def _quoted(text):
    """A text as one word of a shell script."""
    return "'" + text.replace("'", "'\"'\"'") + "'"

distml_test = rule(
    doc = """Passes where distml finds nothing in `srcs` and what they depend on; a failing one prints the findings.

    It fails too where there is nothing to check in one of `srcs`.""",
    implementation = _test_impl,
    attrs = {"srcs": attr.label_list(aspects = [report], allow_empty = False, mandatory = True, doc = "Python targets.")},
    test = True,
)
