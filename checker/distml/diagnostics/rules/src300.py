"""Source, third hundred: comments that talk to distml."""

from distml.diagnostics.rule import Rule, Severity


class UnusedSuppression(Rule):
    """A suppression that suppresses nothing.

    ## What it finds
    `# distml: ignore[...]` on a line where none of its codes is found. A mistake in a function may show only where another
    file calls it: this is reported only by a run that checked every file of the project that may import the comment's file.

    ## Why it matters
    It would hide the next finding on this line.

    ## Example
    ```py
    import torch

    hidden = torch.randn(32, 128)
    scores = hidden @ torch.zeros(128, 10)  # distml: ignore[SHP101]
    ```

    ## Instead
    ```py
    import torch

    hidden = torch.randn(32, 128)
    scores = hidden @ torch.zeros(128, 10)
    ```
    """

    code = "SRC301"
    name = "unused-suppression"
    severity = Severity.WARNING


class UnknownCode(Rule):
    """A suppression names an unknown code.

    ## What it finds
    `# distml: ignore[...]` with a name in the brackets that no rule has as its code.

    ## Why it matters
    The finding that it was meant for is not suppressed, or the comment is a leftover.

    ## Example
    ```py
    import torch

    hidden = torch.randn(32, 128)
    scores = hidden @ torch.zeros(128, 10)  # distml: ignore[shapes]
    ```

    ## Instead
    ```py
    import torch

    hidden = torch.randn(32, 128)
    scores = hidden @ torch.zeros(128, 10)
    ```
    """

    code = "SRC302"
    name = "unknown-code"
    severity = Severity.WARNING
