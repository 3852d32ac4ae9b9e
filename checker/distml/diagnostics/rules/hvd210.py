"""Rewrites that are refused when they are made: HVD215."""

from distml.diagnostics.rule import Rule, Severity


class NotCertified(Rule):
    """The rewritten program was checked, and something is missing in it.

    ## What it finds
    A rewrite that was made and, read again, does not do all that makes several processes one training: gradients that
    are averaged once, weights that begin as those of rank 0, data that differ between ranks, rates that go with them,
    output by one rank, no ranks that wait for others.

    ## Why it matters
    A program that lacks one of these trains, and trains something else.

    ## Example
    A program that steps an optimizer in a way that `distml horovod` finds when it has rewritten it, and not before.

    ## Instead
    The program stays as it is. Make the missing change by hand, or write the loop in a plainer way. It is a mistake of
    distml, and worth a report.
    """

    code = "HVD215"
    name = "not-certified"
    severity = Severity.WARNING
