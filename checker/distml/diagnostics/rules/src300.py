"""Source, third hundred: comments that talk to distml."""

from distml.diagnostics.rule import Rule, Severity


class UnusedSuppression(Rule):
    """A suppression that suppresses nothing.

    ## What it finds
    `# distml: ignore[...]` on a line where none of its codes is found, or with a code that does not exist.

    ## Why it matters
    It would hide a finding that nobody has looked at yet.

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
