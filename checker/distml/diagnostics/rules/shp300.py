"""Shapes, third hundred: rank, indexing, assignment and unpacking."""

from distml.diagnostics.rule import Rule


class RankMismatch(Rule):
    """The operation does not support a tensor of this rank.

    ## What it finds
    Layers and functions that need a certain rank (`Conv2d` 3 or 4, `bmm` 3, `mm` 2, `np.trace` at least 2) and get
    another, and `len(x)` or a loop over an array without axes.

    ## Why it matters
    The program stops at that line: `Expected 3D (unbatched) or 4D (batched) input`. A forgotten `unsqueeze(0)` or a
    `squeeze()` too many is the usual cause.

    ## Example
    ```py
    import torch
    from torch import nn

    layer = nn.Conv2d(3, 16, kernel_size=3)
    features = layer(torch.randn(32, 3 * 28 * 28))
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    layer = nn.Conv2d(3, 16, kernel_size=3)
    features = layer(torch.randn(32, 3, 28, 28))
    ```
    """

    code = "SHP301"
    name = "rank-mismatch"


class IndexOutOfBounds(Rule):
    """An integer index outside the size of its axis.

    ## What it finds
    `x[i]`, `select`, `take`, `x.shape[i]` with an index that is known and lies outside `-size ... size - 1`.

    ## Why it matters
    The program stops at that line with an `IndexError`.

    ## Example
    ```py
    import numpy as np

    scores = np.zeros((5, 3))
    last = scores[:, 3]
    ```

    ## Instead
    ```py
    import numpy as np

    scores = np.zeros((5, 3))
    last = scores[:, -1]
    ```
    """

    code = "SHP302"
    name = "index-out-of-bounds"


class TooManyIndices(Rule):
    """More indices than the tensor has axes.

    ## What it finds
    `x[i, j, k]` on a tensor of rank 2. `None` and `...` take no axis; a Boolean mask takes as many as its rank.

    ## Why it matters
    The program stops at that line: `too many indices for array`.

    ## Example
    ```py
    import numpy as np

    gray = np.zeros((28, 28))
    red = gray[:, :, 0]
    ```

    ## Instead
    ```py
    import numpy as np

    color = np.zeros((28, 28, 3))
    red = color[:, :, 0]
    ```
    """

    code = "SHP303"
    name = "too-many-indices"


class MaskMismatch(Rule):
    """The shape of a Boolean mask differs from the axes that it selects from.

    ## What it finds
    `x[mask]`, `masked_fill`, `masked_select` and attention masks whose sizes differ from those they mask.

    ## Why it matters
    The program stops at that line: `boolean index did not match indexed array`, `The shape of the mask [...] does not
    match the shape of the indexed tensor`.

    ## Example
    ```py
    import numpy as np

    points = np.zeros((100, 3))
    heights = np.zeros(50)
    high = points[heights > 0]
    ```

    ## Instead
    ```py
    import numpy as np

    points = np.zeros((100, 3))
    heights = points[:, 2]
    high = points[heights > 0]
    ```
    """

    code = "SHP304"
    name = "mask-mismatch"


class AssignmentMismatch(Rule):
    """A value cannot be broadcast to the place it is written to.

    ## What it finds
    `x[...] = y`, in-place operations such as `x += y` and `x.add_(y)`, `copy_` and `out=`, where the value does not
    broadcast to the shape of the target, which cannot grow; `sess.run(y, feed_dict={x: value})` where the placeholder `x` has
    another shape; `net.load_state_dict(other.state_dict())` where a parameter of one name has another size; Keras'
    `layer.set_weights([...])` and `weights=[...]` with another number of arrays, or one of another shape.

    ## Why it matters
    The program stops at that line: `could not broadcast input array from shape ... into shape ...`.

    ## Example
    ```py
    import numpy as np

    batch = np.zeros((16, 10))
    batch[0] = np.ones(12)
    ```

    ## Instead
    ```py
    import numpy as np

    batch = np.zeros((16, 12))
    batch[0] = np.ones(12)
    ```
    """

    code = "SHP305"
    name = "assignment-mismatch"


class UnpackMismatch(Rule):
    """Unpacking a shape, a tensor or a tuple into the wrong number of names.

    ## What it finds
    `b, c = x.shape` where `x` has rank 3, `a, b = x` where the first axis of `x` has size 3, or a tuple or list of
    another number of items: `out, h, c = lstm(x)`, `a, b = f(x)` where `f` returns three.

    ## Why it matters
    The program stops at that line: `too many values to unpack`.

    ## Example
    ```py
    import torch

    tokens = torch.randn(8, 20, 64)
    batch, features = tokens.shape
    ```

    ## Instead
    ```py
    import torch

    tokens = torch.randn(8, 20, 64)
    batch, length, features = tokens.shape
    ```
    """

    code = "SHP306"
    name = "unpack-mismatch"


class NotATensor(Rule):
    """A function or layer of PyTorch is given a string, a list, a tuple, a dict or a set instead of a tensor.

    ## What it finds
    `F.relu([1.0, 2.0])`, `nn.Linear(3, 4)([1, 2, 3])`, `torch.add("a", x)`, and a layer that is given all that an LSTM gives
    instead of its output.

    ## Why it matters
    The program stops at that line: `argument 'input' must be Tensor`.

    ## Example
    ```py
    import torch
    from torch import nn

    features = nn.LSTM(64, 32)(torch.randn(20, 8, 64))
    scores = nn.Linear(32, 10)(features)
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    features, _ = nn.LSTM(64, 32)(torch.randn(20, 8, 64))
    scores = nn.Linear(32, 10)(features)
    ```
    """

    code = "SHP307"
    name = "not-a-tensor"


class NotOneValue(Rule):
    """An array of several elements where a single value is needed.

    ## What it finds
    A condition of several elements (`if x > 0:`, `0 < x < 1`, `not x`, `assert a == b`, `all([x])`, `max(x, 0)`), a number
    made of them (`float(x)`, `x.item()`, `math.exp(x)`, `"%.3f" % x`, `range(x)`, `items[x]`), a format of an array with axes
    (`f"{x:.3f}"`), and `loss.backward()` without a gradient.

    ## Why it matters
    The program stops at that line: `The truth value of an array with more than one element is ambiguous`, `only length-1
    arrays can be converted to Python scalars`, `unsupported format string passed to Tensor.__format__`. A loss with
    `reduction="none"` is often printed so, after the first epoch.

    ## Example
    ```py
    import torch
    import torch.nn.functional as F

    loss = F.cross_entropy(torch.randn(8, 10), torch.zeros(8, dtype=torch.long), reduction="none")
    print(f"loss {loss:.3f}")
    ```

    ## Instead
    ```py
    import torch
    import torch.nn.functional as F

    loss = F.cross_entropy(torch.randn(8, 10), torch.zeros(8, dtype=torch.long), reduction="none")
    print(f"loss {loss.mean():.3f}")
    ```
    """

    code = "SHP308"
    name = "not-one-value"


class NotAnIndex(Rule):
    """An index or a slice that is no integer.

    ## What it finds
    A float as an index or as a bound of a slice (`x[n / 2]`, `x[: len(x) / 2]`), an array of floats as an index or where
    PyTorch takes indices (`gather`, `scatter`, `Embedding`, `one_hot`), and a list or a tuple that is indexed by several
    axes at once (`rows[:, 0]` of a list of lists).

    ## Why it matters
    The program stops at that line: `slice indices must be integers`, `list indices must be integers or slices, not tuple`,
    `arrays used as indices must be of integer (or boolean) type`.

    ## Example
    ```py
    import numpy as np

    scores = np.zeros((10, 3))
    first = scores[: len(scores) / 2]
    ```

    ## Instead
    ```py
    import numpy as np

    scores = np.zeros((10, 3))
    first = scores[: len(scores) // 2]
    ```
    """

    code = "SHP309"
    name = "not-an-index"


class WrongKind(Rule):
    """Elements of a kind that the operation does not take.

    ## What it finds
    In PyTorch: integers or bools where floats are needed (`Linear`, `mean`, `std`, `softmax`, `(a == b).mean()`), floats and
    integers in one product (`@`, `linear`, `conv2d`) or one assignment (`x[mask] = y`), targets of a loss that are no numbers
    of classes or no floats, integers that are to require gradients, `-` of masks. In PyTorch and NumPy: floats that integers
    are to become in place (`x /= 2`), and `&`, `|` and `~` of floats.

    ## Why it matters
    The program stops at that line: `expected scalar type Long but found Float`, `mean(): could not infer output dtype`,
    `result type Float can't be cast to the desired output type Long`.

    ## Example
    ```py
    import torch

    predicted, labels = torch.randn(8, 10).argmax(1), torch.randint(0, 10, (8,))
    accuracy = (predicted == labels).mean()
    ```

    ## Instead
    ```py
    import torch

    predicted, labels = torch.randn(8, 10).argmax(1), torch.randint(0, 10, (8,))
    accuracy = (predicted == labels).float().mean()
    ```
    """

    code = "SHP310"
    name = "wrong-kind"


class TooFewValues(Rule):
    """A normalization over a single value.

    ## What it finds
    `BatchNorm` in training mode with one value per channel (a batch of 1 whose images have shrunk to 1x1), `InstanceNorm` of
    images of 1x1, and `GroupNorm` with one value per group.

    ## Why it matters
    The program stops at that line: `Expected more than 1 value per channel when training`. Often it is the last batch of an
    epoch, or the pooling branch of a segmentation model.

    ## Example
    ```py
    import torch
    from torch import nn

    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(64, 16, 1), nn.BatchNorm2d(16))
    features = head(torch.randn(1, 64, 8, 8))
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(64, 16, 1), nn.BatchNorm2d(16))
    features = head(torch.randn(4, 64, 8, 8))
    ```
    """

    code = "SHP311"
    name = "too-few-values"


class DifferentDtypes(Rule):
    """Floats of 64 bits beside floats of 32, or integers of different widths, where PyTorch or TensorFlow takes one dtype only.

    ## What it finds
    In PyTorch: a layer whose input is wider than its weights (`Linear`, `LSTM`, `BatchNorm2d`), products (`@`, `bmm`),
    assignments by index or mask, `F.binary_cross_entropy` and weights of classes; and numbers of classes that are not
    `torch.int64`. In TensorFlow, which converts no tensor: operators and functions of two tensors of different dtypes
    (`tf.constant([1, 2]) * tf.ones(2)`), and a float of Python beside integers. Nothing is told in programs that choose their
    floats: after `set_default_dtype`, `model.double()`, `model.to(dtype)`, `set_floatx`.

    ## Why it matters
    The program stops at that line: `mat1 and mat2 must have the same dtype, but got Double and Float`, `cannot compute Mul as
    input #1 was expected to be a int32 tensor but is a float tensor`. NumPy makes `float64` where PyTorch and TensorFlow make
    `float32`, and a `DataLoader` makes `float64` of Python's floats.

    ## Example
    ```py
    import numpy as np
    import torch
    from torch import nn

    model = nn.Linear(4, 1)
    inputs = torch.from_numpy(np.random.rand(8, 4))
    scores = model(inputs)
    ```

    ## Instead
    ```py
    import numpy as np
    import torch
    from torch import nn

    model = nn.Linear(4, 1)
    inputs = torch.from_numpy(np.random.rand(8, 4)).float()
    scores = model(inputs)
    ```
    """

    code = "SHP312"
    name = "different-dtypes"
