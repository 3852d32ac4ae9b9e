"""Shapes, fourth hundred: layers and the tensors that go into them."""

from distml.diagnostics.rule import Rule


class FeatureMismatch(Rule):
    """The input's feature size differs from the layer's.

    ## What it finds
    `Linear`, `Bilinear`, `LayerNorm`, `RNN`, `LSTM`, `GRU`, attention and their functional forms, where the feature axis
    of the input is not the size in the constructor. Both places are named, however far apart they are.

    ## Why it matters
    The program stops at that line: `mat1 and mat2 shapes cannot be multiplied`. The usual place is the first `Linear`
    behind a flatten, whose size was worked out for another image size.

    ## Example
    ```py
    import torch
    from torch import nn


    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 16, kernel_size=5)
            self.head = nn.Linear(16 * 32 * 32, 10)

        def forward(self, images):
            return self.head(self.conv(images).flatten(1))


    scores = Classifier()(torch.randn(8, 3, 32, 32))
    ```

    ## Instead
    ```py
    import torch
    from torch import nn


    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 16, kernel_size=5)
            self.head = nn.Linear(16 * 28 * 28, 10)

        def forward(self, images):
            return self.head(self.conv(images).flatten(1))


    scores = Classifier()(torch.randn(8, 3, 32, 32))
    ```
    """

    code = "SHP401"
    name = "feature-mismatch"


class ChannelMismatch(Rule):
    """The input's number of channels differs from the layer's.

    ## What it finds
    Convolutions, transposed convolutions, `BatchNorm`, `InstanceNorm`, `GroupNorm`, `PReLU` and their functional forms,
    where axis 1 of the input is not the number of channels in the constructor.

    ## Why it matters
    The program stops at that line: `expected input to have 16 channels, but got 32 channels instead`.

    ## Example
    ```py
    import torch
    from torch import nn

    model = nn.Sequential(
        nn.Conv2d(3, 16, kernel_size=3),
        nn.ReLU(),
        nn.Conv2d(32, 64, kernel_size=3),
    )
    features = model(torch.randn(8, 3, 32, 32))
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    model = nn.Sequential(
        nn.Conv2d(3, 32, kernel_size=3),
        nn.ReLU(),
        nn.Conv2d(32, 64, kernel_size=3),
    )
    features = model(torch.randn(8, 3, 32, 32))
    ```
    """

    code = "SHP402"
    name = "channel-mismatch"


class NegativeSize(Rule):
    """An output dimension would be zero or negative.

    ## What it finds
    A convolution, pool, `unfold` or negative padding whose window is larger than the (padded) input, so that the output
    size would be zero or negative.

    ## Why it matters
    The program stops at that line: `Kernel size can't be greater than actual input size`, `Output size is too small`. One
    pooling layer too many for the image size is the usual cause.

    ## Example
    ```py
    import torch
    from torch import nn

    pooled = nn.MaxPool2d(4)(torch.randn(8, 16, 3, 3))
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    pooled = nn.AdaptiveMaxPool2d(1)(torch.randn(8, 16, 3, 3))
    ```
    """

    code = "SHP403"
    name = "negative-size"


class IndivisibleGroups(Rule):
    """A size is not divisible into equal groups.

    ## What it finds
    Channels by `groups` in convolutions and `GroupNorm`, `embed_dim` by `num_heads` in attention, channels by the squared
    factor in `PixelShuffle`, and their relatives.

    ## Why it matters
    The program stops where the layer is made or used: `embed_dim must be divisible by num_heads`.

    ## Example
    ```py
    from torch import nn

    attention = nn.MultiheadAttention(embed_dim=100, num_heads=8)
    ```

    ## Instead
    ```py
    from torch import nn

    attention = nn.MultiheadAttention(embed_dim=128, num_heads=8)
    ```
    """

    code = "SHP404"
    name = "indivisible-groups"


class StateMismatch(Rule):
    """The shape of a hidden state does not match the recurrent layer or its input.

    ## What it finds
    `h_0` and `c_0` of `RNN`, `LSTM`, `GRU` and their cells whose number of layers and directions, batch size or hidden
    size is not what the layer and its input need.

    ## Why it matters
    The program stops at that line: `Expected hidden size (2, 8, 64), got [1, 8, 64]`. Note that the state has its batch
    on axis 1 also with `batch_first=True`.

    ## Example
    ```py
    import torch
    from torch import nn

    encoder = nn.GRU(input_size=32, hidden_size=64, num_layers=2, batch_first=True)
    state = torch.zeros(1, 8, 64)
    output, state = encoder(torch.randn(8, 20, 32), state)
    ```

    ## Instead
    ```py
    import torch
    from torch import nn

    encoder = nn.GRU(input_size=32, hidden_size=64, num_layers=2, batch_first=True)
    state = torch.zeros(2, 8, 64)
    output, state = encoder(torch.randn(8, 20, 32), state)
    ```
    """

    code = "SHP405"
    name = "state-mismatch"
