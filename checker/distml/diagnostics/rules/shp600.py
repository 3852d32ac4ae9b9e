"""Shapes, sixth hundred: what the program says about its shapes."""

from distml.diagnostics.rule import Rule, Severity


class AnnotationContradicted(Rule):
    """A value's shape contradicts its annotation.

    ## What it finds
    Arguments, results and variables annotated with a shape (jaxtyping strings such as `Float[Tensor, "batch 128"]`,
    `TensorType([Dyn, 3, 224, 224])`, `np.ndarray[tuple[...], ...]`) that are given a value of another shape.

    ## Why it matters
    Either the annotation misleads whoever reads it, or the call is wrong. Python itself does not check annotations; with a
    run-time checker such as jaxtyping's the program stops there.

    ## Example
    ```py
    import torch
    from jaxtyping import Float
    from torch import Tensor


    def classify(features: Float[Tensor, "batch 128"]) -> Float[Tensor, "batch 10"]:
        return features @ torch.zeros(128, 10)


    scores = classify(torch.randn(32, 64))
    ```

    ## Instead
    ```py
    import torch
    from jaxtyping import Float
    from torch import Tensor


    def classify(features: Float[Tensor, "batch 128"]) -> Float[Tensor, "batch 10"]:
        return features @ torch.zeros(128, 10)


    scores = classify(torch.randn(32, 128))
    ```
    """

    code = "SHP601"
    name = "annotation-contradicted"
    severity = Severity.WARNING


class ShapeAssertionFails(Rule):
    """An assertion about a shape always fails.

    ## What it finds
    `assert x.shape == (...)`, `assert x.ndim == 2`, `np.testing.assert_equal(x.shape, ...)` and similar, where the
    shape is known and differs.

    ## Why it matters
    The program stops at that line with an `AssertionError`.

    ## Example
    ```py
    import torch

    features = torch.randn(8, 64).unsqueeze(1)
    assert features.shape == (8, 64)
    ```

    ## Instead
    ```py
    import torch

    features = torch.randn(8, 64).unsqueeze(1)
    assert features.shape == (8, 1, 64)
    ```
    """

    code = "SHP602"
    name = "shape-assertion-fails"


class InvalidDimension(Rule):
    """Invalid dimension size (negative or not an integer).

    ## What it finds
    A float or a negative number where a size is needed: `torch.zeros(n / 2)`, `np.ones((3, -4))`,
    `nn.Linear(width / 4, 10)`. Division with `/` is the usual cause.

    ## Why it matters
    The program stops at that line: `'float' object cannot be interpreted as an integer`, `negative dimensions are not
    allowed`.

    ## Example
    ```py
    import numpy as np

    width = 128
    half = np.zeros(width / 2)
    ```

    ## Instead
    ```py
    import numpy as np

    width = 128
    half = np.zeros(width // 2)
    ```
    """

    code = "SHP603"
    name = "invalid-dimension"
