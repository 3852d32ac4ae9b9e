"""Build settings of the checks: `--@distml//bazel:select=SHP,CHO`, `--@distml//bazel:report_only`."""

CodesInfo = provider(
    doc = "Rules that were named on the command line.",
    fields = {"codes": "list of codes, prefixes of codes, and names of rules"},
)

def _codes_impl(ctx):
    given = ctx.build_setting_value
    return [CodesInfo(codes = [code.strip() for code in given.split(",") if code.strip()])]

codes_flag = rule(
    doc = "A flag that holds rules of distml with commas between them.",
    implementation = _codes_impl,
    build_setting = config.string(flag = True),
)

SwitchInfo = provider(
    doc = "A choice that was made on the command line.",
    fields = {"on": "bool"},
)

def _switch_impl(ctx):
    return [SwitchInfo(on = ctx.build_setting_value)]

switch_flag = rule(
    doc = "A flag that is given or not.",
    implementation = _switch_impl,
    build_setting = config.bool(flag = True),
)
