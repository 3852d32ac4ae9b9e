"""Shapes, fifth hundred: losses and data."""

from distml.diagnostics.rule import Rule, Severity


class LossTargetMismatch(Rule):
    """A loss whose prediction and target have incompatible shapes.

    ## What it finds
    Classification losses whose target has another batch size or other positions than the prediction, and losses that need
    both to have the same shape (`BCELoss`, `BCEWithLogitsLoss`) and get different ones.

    ## Why it matters
    The program stops at that line: `Expected input batch_size (32) to match target batch_size (64)`, `Target size must be
    the same as input size`.

    ## Example
    ```py
    import torch
    from torch import nn

    logits = torch.randn(32, 1)
    labels = torch.zeros(32)
    loss = nn.BCEWithLogitsLoss()(logits, labels)
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    logits = torch.randn(32, 1)
    labels = torch.zeros(32)
    loss = nn.BCEWithLogitsLoss()(logits.squeeze(1), labels)
    ```
    """

    code = "SHP501"
    name = "loss-target-mismatch"


class DataLengthMismatch(Rule):
    """Datasets or arrays that belong together have different lengths.

    ## What it finds
    `TensorDataset` over tensors whose first sizes differ, and `random_split` into lengths that do not add up to the
    length of the data.

    ## Why it matters
    The program stops at that line: `Size mismatch between tensors`.

    ## Example
    ```py
    import torch
    from torch.utils.data import TensorDataset

    inputs = torch.randn(1000, 20)
    labels = torch.zeros(900)
    data = TensorDataset(inputs, labels)
    ```

    ## Instead
    ```py
    import torch
    from torch.utils.data import TensorDataset

    inputs = torch.randn(1000, 20)
    labels = torch.zeros(1000)
    data = TensorDataset(inputs, labels)
    ```
    """

    code = "SHP502"
    name = "data-length-mismatch"


class SilentLossBroadcast(Rule):
    """A loss silently broadcasts (N, 1) against (N,) to (N, N).

    ## What it finds
    `mse_loss`, `l1_loss`, `smooth_l1_loss`, `huber_loss` and their modules on a prediction of shape (N, 1) and a target
    of shape (N,), or the other way round.

    ## Why it matters
    Nothing fails. The two broadcast to (N, N), every prediction is compared with every target, and the model learns to
    predict the mean.

    ## Example
    ```py
    import torch
    import torch.nn.functional as F

    predicted = torch.randn(32, 1)
    target = torch.randn(32)
    loss = F.mse_loss(predicted, target)
    ```

    ## Instead
    ```py
    import torch
    import torch.nn.functional as F

    predicted = torch.randn(32, 1)
    target = torch.randn(32)
    loss = F.mse_loss(predicted.squeeze(1), target)
    ```
    """

    code = "SHP503"
    name = "silent-loss-broadcast"
    severity = Severity.WARNING


class SilentDifferenceBroadcast(Rule):
    """Subtracting (N,) from (N, 1) silently broadcasts to (N, N).

    ## What it finds
    `a - b` where one has shape (N, 1) and the other (N,), with the same N, so that the result is (N, N).

    ## Why it matters
    No error is raised. An error or a residual computed this way is a table of all pairs: its mean is a different
    number, and memory grows with the square of N. If all pairs are intended, write `a - b[None, :]`.

    ## Example
    ```py
    import numpy as np

    predicted = np.zeros((50, 1))
    target = np.ones(50)
    error = ((predicted - target) ** 2).mean()
    ```

    ## Instead
    ```py
    import numpy as np

    predicted = np.zeros((50, 1))
    target = np.ones(50)
    error = ((predicted[:, 0] - target) ** 2).mean()
    ```
    """

    code = "SHP504"
    name = "silent-difference-broadcast"
    severity = Severity.WARNING
