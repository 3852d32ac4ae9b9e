"""Gradual types, second hundred: functions that no input fits."""

from distml.diagnostics.rule import Rule


class NoInputFits(Rule):
    """Two lines of a function require different sizes for the same input dimension.

    ## What it finds
    A function or method that fails for every input: one line fixes a size of an input, another line requires a
    different one. Both are named. `distml migrate` shows which dimension it is.

    ## Why it matters
    The error appears only when the function is first called, which may be long after the job has started: in the
    first validation, or in the branch for the last batch.

    ## Example
    ```py
    import torch


    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.local = torch.nn.Conv2d(2, 8, kernel_size=3)
            self.wide = torch.nn.Conv2d(4, 8, kernel_size=5, padding=1)

        def forward(self, image):
            return self.local(image) + self.wide(image)
    ```

    ## Instead
    ```py
    import torch


    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.local = torch.nn.Conv2d(4, 8, kernel_size=3)
            self.wide = torch.nn.Conv2d(4, 8, kernel_size=5, padding=1)

        def forward(self, image):
            return self.local(image) + self.wide(image)
    ```
    """

    code = "GRD201"
    name = "no-input-fits"
