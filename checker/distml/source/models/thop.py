"""thop: https://github.com/Lyken17/pytorch-OpCounter; a model is called with the inputs given, in evaluation mode."""

from _elsewhere import resolved


def profile(model, inputs, *rest, **options):
    """profile(model, inputs): multiplications and parameters"""
    training = model.training
    model.eval()
    model(*inputs)
    model.train(training)
    return resolved(options) if options.get("ret_layer_info") or rest else (float(resolved()), float(resolved()))


def clever_format(nums, format="%.2f"):
    """clever_format(nums): text"""
    return resolved(nums, format)
