"""Shapes, second hundred: rearranging, joining and splitting."""

from distml.diagnostics.rule import Rule


class ElementCountMismatch(Rule):
    """A reshape to a shape with a different number of elements.

    ## What it finds
    `reshape`, `view`, `unflatten`, `resize` and their relatives where the sizes asked for do not multiply to the number
    of elements there are, or where `-1` cannot be made a whole number.

    ## Why it matters
    The program stops at that line: `shape '[...]' is invalid for input of size ...`.

    ## Example
    ```py
    import torch

    images = torch.randn(16, 3, 32, 32)
    rows = images.view(16, 1024)
    ```

    ## Instead
    ```py
    import torch

    images = torch.randn(16, 3, 32, 32)
    rows = images.view(16, 3072)
    ```
    """

    code = "SHP201"
    name = "element-count-mismatch"


class AxisOutOfRange(Rule):
    """An axis that the tensor does not have, or the same axis twice.

    ## What it finds
    `dim=` or `axis=` of reductions, `squeeze`, `unsqueeze`, `transpose`, `stack`, `softmax` and every other operation
    that takes an axis, where it lies outside `-rank ... rank - 1`.

    ## Why it matters
    The program stops at that line: `Dimension out of range`, `axis 2 is out of bounds for array of dimension 2`.

    ## Example
    ```py
    import numpy as np

    table = np.ones((10, 4))
    means = table.mean(axis=2)
    ```

    ## Instead
    ```py
    import numpy as np

    table = np.ones((10, 4))
    means = table.mean(axis=1)
    ```
    """

    code = "SHP202"
    name = "axis-out-of-range"


class ConcatenationMismatch(Rule):
    """Joined tensors disagree on a size other than that of the joined axis.

    ## What it finds
    `cat`, `concatenate`, `stack`, `hstack`, `vstack`, `dstack`, `block`, `append` and their relatives whose parts differ
    in rank or in a size that must be the same. `stack` needs all sizes to be the same.

    ## Why it matters
    The program stops at that line: `Sizes of tensors must match except in dimension 1`. Skip connections are the usual
    place: one branch was pooled once more than the other.

    ## Example
    ```py
    import torch

    deep = torch.randn(8, 64, 28, 28)
    skip = torch.randn(8, 32, 56, 56)
    joined = torch.cat([deep, skip], dim=1)
    ```

    ## Instead
    ```py
    import torch
    import torch.nn.functional as F

    deep = torch.randn(8, 64, 28, 28)
    skip = torch.randn(8, 32, 56, 56)
    joined = torch.cat([F.interpolate(deep, scale_factor=2), skip], dim=1)
    ```
    """

    code = "SHP203"
    name = "concatenation-mismatch"


class SplitMismatch(Rule):
    """Split sizes do not add up to the size of the axis.

    ## What it finds
    `torch.split` with sizes whose sum is not the size of the axis, `np.split` into a number of parts that does not divide
    it.

    ## Why it matters
    The program stops at that line: `array split does not result in an equal division`.

    ## Example
    ```py
    import torch

    packed = torch.randn(32, 100)
    query, key, value = torch.split(packed, [32, 32, 32], dim=1)
    ```

    ## Instead
    ```py
    import torch

    packed = torch.randn(32, 96)
    query, key, value = torch.split(packed, [32, 32, 32], dim=1)
    ```
    """

    code = "SHP204"
    name = "split-mismatch"


class PermutationMismatch(Rule):
    """`dims` is not a permutation of the tensor's axes.

    ## What it finds
    `permute`, `transpose` and `moveaxis` whose axes are more or fewer than the tensor has, or name one twice.

    ## Why it matters
    The program stops at that line: `axes don't match array`.

    ## Example
    ```py
    import torch

    images = torch.randn(16, 32, 32, 3)
    channels_first = images.permute(2, 0, 1)
    ```

    ## Instead
    ```py
    import torch

    images = torch.randn(16, 32, 32, 3)
    channels_first = images.permute(0, 3, 1, 2)
    ```
    """

    code = "SHP205"
    name = "permutation-mismatch"


class ExpandMismatch(Rule):
    """A shape that the tensor cannot be expanded to.

    ## What it finds
    `expand`, `expand_as`, `broadcast_to` where a size that is not 1 would have to change, or where the target has fewer
    axes than the tensor.

    ## Why it matters
    The program stops at that line: `The expanded size of the tensor must match the existing size`.

    ## Example
    ```py
    import torch

    bias = torch.randn(64)
    rows = bias.expand(32, 128)
    ```

    ## Instead
    ```py
    import torch

    bias = torch.randn(64)
    rows = bias.expand(32, 64)
    ```
    """

    code = "SHP206"
    name = "expand-mismatch"


class EinopsMismatch(Rule):
    """An einops pattern does not match its tensor.

    ## What it finds
    `rearrange`, `reduce`, `repeat`, `pack` and their relatives where the pattern names more or fewer axes than the tensor
    has, where a size given by name contradicts the tensor, or where a group such as `(h p)` is not divisible.

    ## Why it matters
    The program stops at that line with an `EinopsError`. The pattern is a string, so nothing else looks into it before.

    ## Example
    ```py
    import torch
    from einops import rearrange

    images = torch.randn(8, 3, 30, 30)
    patches = rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=16, q=16)
    ```

    ## Instead
    ```py
    import torch
    from einops import rearrange

    images = torch.randn(8, 3, 32, 32)
    patches = rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=16, q=16)
    ```
    """

    code = "SHP207"
    name = "einops-mismatch"


class IncompatibleView(Rule):
    """A view that would have to copy.

    ## What it finds
    `view` and `view_as` of a tensor whose axes were exchanged, thinned out or expanded, where the new axes would have to step
    over gaps in memory: `x.transpose(1, 2).view(n, -1)`, `x.permute(0, 2, 3, 1).view(...)`, `x.expand(...).view(-1)`. It
    follows how elements lie through what keeps their order (`relu`, `dropout`, `+`) and what packs them anew (`matmul`,
    `Linear`, `contiguous`); where that is unknown nothing is said.

    ## Why it matters
    The program stops at that line: `view size is not compatible with input tensor's size and stride`.

    ## Example
    ```py
    import torch

    heads = torch.randn(4, 8, 16, 32)
    rows = heads.transpose(1, 2).view(4, 16, 256)
    ```

    ## Instead
    ```py
    import torch

    heads = torch.randn(4, 8, 16, 32)
    rows = heads.transpose(1, 2).reshape(4, 16, 256)
    ```
    """

    code = "SHP208"
    name = "incompatible-view"


class NegativeStrides(Rule):
    """An array of NumPy that PyTorch cannot read backwards.

    ## What it finds
    `torch.from_numpy`, `torch.tensor`, `torch.as_tensor` and batches of a `DataLoader` made of an array that was reversed
    (`x[:, :, ::-1]`, `np.flip(x, 1)`) and not copied since.

    ## Why it matters
    The program stops at that line: `At least one stride in the given numpy array is negative`.

    ## Example
    ```py
    import numpy as np
    import torch

    image = np.zeros((32, 32, 3), np.float32)
    pixels = torch.from_numpy(image[:, :, ::-1])
    ```

    ## Instead
    ```py
    import numpy as np
    import torch

    image = np.zeros((32, 32, 3), np.float32)
    pixels = torch.from_numpy(image[:, :, ::-1].copy())
    ```
    """

    code = "SHP209"
    name = "negative-strides"
