"""scipy.ndimage: https://docs.scipy.org/doc/scipy/reference/ndimage.html; images of any number of axes."""

import numpy as np
from _arrays import as_array, is_array, numbers, same_size
from _elsewhere import resolved

gaussian_filter = gaussian_filter1d = uniform_filter = uniform_filter1d = median_filter = same_size
maximum_filter = minimum_filter = percentile_filter = rank_filter = gaussian_laplace = gaussian_gradient_magnitude = (
    same_size
)
sobel = prewitt = laplace = shift = grey_dilation = grey_erosion = grey_opening = grey_closing = same_size
binary_dilation = binary_erosion = binary_opening = binary_closing = binary_fill_holes = same_size
white_tophat = black_tophat = morphological_gradient = same_size


def convolve(input, weights, *args, **options):
    """convolve(input, weights): as many axes in both"""
    image, weights = as_array(input), as_array(weights)
    if is_array(image) and is_array(weights) and "axes" not in options:
        axes_of_input, axes_of_weights = image.ndim, weights.ndim
        assert axes_of_input == axes_of_weights
    return same_size(image)


correlate = convolve


def convolve1d(input, weights, *args, **options):
    """convolve1d(input, weights): weights in a row"""
    weights = as_array(weights)
    if is_array(weights):
        axes_of_weights = weights.ndim
        assert axes_of_weights == 1
    return same_size(input)


correlate1d = convolve1d


def label(input, structure=None, output=None):
    """label(input): a number for each element, and how many there are"""
    return (same_size(input), int(resolved())) if output is None else resolved(input, output)


def map_coordinates(input, coordinates, *args, **options):
    """map_coordinates(input, coordinates): a row of coordinates for each axis"""
    image, places = as_array(input), as_array(coordinates)
    if not is_array(image) or not is_array(places):
        return resolved(image, places)
    axes_of_input, rows_of_coordinates = image.ndim, len(places)
    assert axes_of_input == rows_of_coordinates
    return numbers(*places.shape[1:])


def distance_transform_edt(input, *args, **options):
    """distance_transform_edt(input): a distance for each element"""
    return resolved(input, args, options) if args or options else same_size(input)
