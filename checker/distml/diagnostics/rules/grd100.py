"""Gradual types, first hundred: annotations beside the code they annotate."""

from distml.diagnostics.rule import Rule


class AnnotationContradictsCode(Rule):
    """An annotation declares a shape that the code below it cannot take.

    ## What it finds
    A parameter annotated with a shape (`TensorType([Dyn, 3, Dyn, Dyn])`, `Float[Tensor, "b 3 h w"]`) where the function,
    called with exactly that, must fail. Both places are named: the annotation, and the line that contradicts it.

    ## Why it matters
    A caller that follows the annotation gets an error from inside the function. One of the two is wrong, and
    readers trust the annotation.

    ## Example
    ```py
    import torch
    from torch.fx.tensor_type import Dyn, TensorType

    encode = torch.nn.Conv2d(4, 16, kernel_size=3)


    def features(image: TensorType([Dyn, 3, Dyn, Dyn])):
        return encode(image)
    ```

    ## Instead
    ```py
    import torch
    from torch.fx.tensor_type import Dyn, TensorType

    encode = torch.nn.Conv2d(4, 16, kernel_size=3)


    def features(image: TensorType([Dyn, 4, Dyn, Dyn])):
        return encode(image)
    ```
    """

    code = "GRD101"
    name = "annotation-contradicts-code"
