"""The module extension that makes the repository `distml_python`; see `distml_python` in tool.bzl.

    python = use_extension("@distml//bazel:extensions.bzl", "python")
    python.configure(wheels = ["//third_party:z3_solver.whl", "//third_party:libcst.whl", ...])

Only what the root module says counts.
"""

load(":tool.bzl", "distml_python")

def _python_impl(mctx):
    wheels, interpreter = [], None
    for module in mctx.modules:
        for tag in module.tags.configure:
            if module.is_root:
                wheels, interpreter = tag.wheels, tag.interpreter
    distml_python(name = "distml_python", wheels = wheels, interpreter = interpreter)

python = module_extension(
    implementation = _python_impl,
    tag_classes = {
        "configure": tag_class(attrs = {
            "interpreter": attr.label(doc = "A Python 3.11 or newer."),
            "wheels": attr.label_list(doc = "z3-solver, libcst, and what they need."),
        }),
    },
)
