"""Shapes, first hundred: operands of one operation that cannot meet."""

from distml.diagnostics.rule import Rule


class MatmulMismatch(Rule):
    """Matrix product of operands whose inner sizes differ.

    ## What it finds
    `a @ b`, `matmul`, `mm`, `mv`, `dot`, `tensordot` and their relatives where the size that is summed over is not the
    same on both sides.

    ## Why it matters
    The program stops at that line with `mat1 and mat2 shapes cannot be multiplied`, often only after the data is loaded
    and the first batch is on its way through the model.

    ## Example
    ```py
    import torch

    weights = torch.zeros(64, 10)
    hidden = torch.randn(32, 128)
    scores = hidden @ weights
    ```

    ## Instead
    ```py
    import torch

    weights = torch.zeros(128, 10)
    hidden = torch.randn(32, 128)
    scores = hidden @ weights
    ```
    """

    code = "SHP101"
    name = "matmul-mismatch"


class BroadcastMismatch(Rule):
    """Element-wise operation on shapes that do not broadcast.

    ## What it finds
    Arithmetic, comparisons, `where`, `maximum` and every other element-wise operation where, aligned from the last axis,
    two sizes differ and neither is 1.

    ## Why it matters
    The program stops at that line: `operands could not be broadcast together` in NumPy, `The size of tensor a must match
    the size of tensor b` in PyTorch.

    ## Example
    ```py
    import numpy as np

    samples = np.zeros((100, 3))
    offsets = np.ones(100)
    moved = samples + offsets
    ```

    ## Instead
    ```py
    import numpy as np

    samples = np.zeros((100, 3))
    offsets = np.ones(100)
    moved = samples + offsets[:, None]
    ```
    """

    code = "SHP102"
    name = "broadcast-mismatch"


class EinsumMismatch(Rule):
    """An `einsum` equation does not match its operands.

    ## What it finds
    A letter that stands for two different sizes, an operand whose rank differs from its number of letters, a number of
    operands other than the equation names, or an output letter that no operand has.

    ## Why it matters
    The program stops at that line. The equation is a string, so nothing else looks into it before.

    ## Example
    ```py
    import torch

    query = torch.randn(8, 20, 64)
    key = torch.randn(8, 30, 32)
    scores = torch.einsum("bqd,bkd->bqk", query, key)
    ```

    ## Instead
    ```py
    import torch

    query = torch.randn(8, 20, 64)
    key = torch.randn(8, 30, 64)
    scores = torch.einsum("bqd,bkd->bqk", query, key)
    ```
    """

    code = "SHP103"
    name = "einsum-mismatch"


class BatchMismatch(Rule):
    """Operands of one operation disagree on a batch or sequence size.

    ## What it finds
    Batched products (`bmm`, `baddbmm`), batched linear algebra, bilinear layers and attention whose inputs have different
    batch sizes, or keys and values of different length.

    ## Why it matters
    The program stops at that line. It is a frequent result of a transposed batch axis, or of a last batch that is smaller
    than the others.

    ## Example
    ```py
    import torch

    left = torch.randn(8, 3, 4)
    right = torch.randn(16, 4, 5)
    product = torch.bmm(left, right)
    ```

    ## Instead
    ```py
    import torch

    left = torch.randn(8, 3, 4)
    right = torch.randn(8, 4, 5)
    product = torch.bmm(left, right)
    ```
    """

    code = "SHP104"
    name = "batch-mismatch"


class NotSquare(Rule):
    """Linear algebra that needs square matrices is given a matrix that is not square.

    ## What it finds
    `inv`, `det`, `solve`, `eig`, `cholesky`, `matrix_power` and their relatives on a matrix whose last two sizes differ.

    ## Why it matters
    The program stops at that line: `Last 2 dimensions of the array must be square`.

    ## Example
    ```py
    import numpy as np

    system = np.zeros((4, 3))
    inverse = np.linalg.inv(system)
    ```

    ## Instead
    ```py
    import numpy as np

    system = np.zeros((4, 3))
    inverse = np.linalg.pinv(system)
    ```
    """

    code = "SHP105"
    name = "not-square"
