"""Shapes, seventh hundred: what the program itself demands of sizes."""

from distml.diagnostics.rule import Rule


class SizeAssertionFails(Rule):
    """A call passes sizes for which an assertion of the program fails.

    ## What it finds
    An `assert` (or `torch._assert`) about sizes that certainly fails: the program makes the call, the numbers are its own,
    and nothing catches the exception. The finding stands at the call that passes the numbers; the assertion, its message and
    the places of the numbers are told with it. Code that is never called, tests that expect the failure, and assertions about
    anything but sizes are left alone, as are those about the sizes of a library's layers behind a call that is not followed,
    which may have changed the layers.

    ## Why it matters
    The program stops there with an `AssertionError`.

    ## Example
    ```py
    import torch
    from torch import nn


    class Attention(nn.Module):
        def __init__(self, dim, heads=8):
            super().__init__()
            assert dim % heads == 0, "dim must be divisible by heads"
            self.qkv = nn.Linear(dim, dim * 3)

        def forward(self, x):
            return self.qkv(x)


    attention = Attention(100)
    ```

    ## Instead
    ```py
    import torch
    from torch import nn


    class Attention(nn.Module):
        def __init__(self, dim, heads=8):
            super().__init__()
            assert dim % heads == 0, "dim must be divisible by heads"
            self.qkv = nn.Linear(dim, dim * 3)

        def forward(self, x):
            return self.qkv(x)


    attention = Attention(104)
    ```
    """

    code = "SHP701"
    name = "size-assertion-fails"


class SizeCheckRaises(Rule):
    """A call passes sizes that the program itself refuses with an exception.

    ## What it finds
    A `raise` under a condition about sizes that is certainly reached: `if x.shape[1] != self.dim: raise ValueError(...)`,
    for a call that the program makes with numbers of its own, where nothing catches the exception. The finding stands at the
    call that passes the numbers. `NotImplementedError`, and exceptions that end loops, tests or programs, are left alone.

    ## Why it matters
    The program stops there with that exception.

    ## Example
    ```py
    import torch
    from torch import nn


    class Patches(nn.Module):
        def __init__(self, size, patch):
            super().__init__()
            if size % patch:
                raise ValueError("Image dimensions must be divisible by the patch size.")
            self.project = nn.Conv2d(3, 64, patch, patch)

        def forward(self, x):
            return self.project(x)


    patches = Patches(257, 16)
    ```

    ## Instead
    ```py
    import torch
    from torch import nn


    class Patches(nn.Module):
        def __init__(self, size, patch):
            super().__init__()
            if size % patch:
                raise ValueError("Image dimensions must be divisible by the patch size.")
            self.project = nn.Conv2d(3, 64, patch, patch)

        def forward(self, x):
            return self.project(x)


    patches = Patches(256, 16)
    ```
    """

    code = "SHP702"
    name = "size-check-raises"
