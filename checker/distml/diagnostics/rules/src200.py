"""Source, second hundred: failures of distml itself."""

from distml.diagnostics.rule import Rule


class InternalError(Rule):
    """Internal error: distml failed on this file.

    ## What it finds
    A crash of distml. It is never the fault of the file, and the exit code is 2.

    ## Why it matters
    Findings in the file may be missing; those in other files are complete. Please report it, with the file if you can.
    """

    code = "SRC201"
    name = "internal-error"
