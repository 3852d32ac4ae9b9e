"""jax: jax.numpy, jax.numpy.linalg and jax.numpy.fft, and the methods of arrays: NumPy's laws under another name.

https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

from distml.ops.bindings.signature import adopt, adopt_attribute

_FUNCTIONS = """
    dtype result_type promote_types float16 float32 float64 single double floating int8 int16 int32 int64 uint8
    uint16 uint32 uint64 int_ uint integer signedinteger unsignedinteger complex64 complex128 csingle cdouble
    complexfloating bool_ bool array asarray copy astype frombuffer fromstring fromiter isscalar reshape ravel
    transpose permute_dims swapaxes moveaxis rollaxis expand_dims squeeze atleast_1d atleast_2d atleast_3d
    broadcast_to broadcast_arrays broadcast_shapes resize tile repeat roll flip flipud fliplr rot90 tril triu diag
    diagflat diagonal shape ndim size zeros ones empty full zeros_like ones_like empty_like full_like eye identity
    tri fromfunction indices diag_indices tril_indices triu_indices diag_indices_from tril_indices_from
    triu_indices_from mask_indices sin cos tan arcsin arccos arctan asin acos atan sinh cosh tanh arcsinh arccosh
    arctanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt deg2rad rad2deg degrees radians rint
    fabs spacing i0 sinc negative positive sign square reciprocal conj conjugate invert bitwise_not bitwise_invert
    absolute abs real imag floor ceil trunc isfinite isinf isnan signbit logical_not isneginf isposinf iscomplex
    isreal bitwise_count add subtract multiply maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor
    floor_divide mod remainder fmod power pow gcd lcm left_shift right_shift bitwise_left_shift bitwise_right_shift
    divide true_divide arctan2 atan2 hypot copysign nextafter logaddexp logaddexp2 heaviside float_power ldexp equal
    not_equal less less_equal greater greater_equal logical_and logical_or logical_xor modf frexp divmod isclose
    allclose clip angle unwrap sort_complex nan_to_num round around take take_along_axis compress extract choose
    where select piecewise ix_ unravel_index ravel_multi_index trim_zeros apply_along_axis arange linspace logspace
    geomspace meshgrid bartlett blackman hamming hanning kaiser vander concatenate concat stack vstack hstack dstack
    column_stack block append insert delete split array_split hsplit dsplit unstack matmul dot inner outer vdot
    vecdot matvec vecmat tensordot kron einsum cross trace matrix_transpose einsum_path polyval polyfit poly roots
    polyadd polysub polymul polyder polyint polydiv sum prod nansum nanprod max min amax amin nanmax nanmin mean
    nanmean std var nanstd nanvar any all ptp argmax argmin nanargmax nanargmin median nanmedian count_nonzero
    cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod average percentile quantile nanpercentile
    nanquantile apply_over_axes array_equal array_equiv convolve correlate interp diff ediff1d gradient trapezoid
    cov corrcoef pad sort argsort partition argpartition lexsort searchsorted digitize unique unique_values
    unique_counts unique_inverse unique_all union1d setdiff1d setxor1d intersect1d isin bincount histogram
    histogram_bin_edges histogram2d histogramdd array_repr array_str can_cast issubdtype isdtype iscomplexobj
    isrealobj iterable finfo iinfo packbits unpackbits
"""
_LINALG = """
    matmul outer vecdot tensordot multi_dot cross trace inv cholesky matrix_power pinv det slogdet eigvals eigvalsh
    eig eigh svd svdvals qr solve lstsq norm vector_norm matrix_norm cond matrix_rank tensorinv tensorsolve diagonal
    matrix_transpose
"""
_FFT = """
    fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift fftfreq
    rfftfreq
"""
_METHODS = """
    copy __copy__ __deepcopy__ astype view reshape ravel flatten transpose swapaxes squeeze repeat diagonal __len__
    item tolist clip conj conjugate round __radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rmod__ __rpow__
    __rand__ __ror__ __rxor__ __rlshift__ __rrshift__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__
    __pow__ __and__ __or__ __xor__ __lshift__ __rshift__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__
    __abs__ __invert__ __divmod__ __rdivmod__ __getitem__ take choose compress __matmul__ __rmatmul__ dot trace sum
    prod max min mean std var any all ptp argmax argmin cumprod cumsum argsort argpartition searchsorted
"""
_ATTRIBUTES = "T shape ndim size real imag mT itemsize nbytes dtype"
_GRIDS = "s_.__getitem__ index_exp.__getitem__ mgrid.__getitem__ ogrid.__getitem__ r_.__getitem__ c_.__getitem__"
_UFUNCS = """
    add subtract multiply maximum minimum bitwise_and bitwise_or bitwise_xor logaddexp logaddexp2 logical_and
    logical_or logical_xor
"""
_IGNORED = "device out_sharding precision preferred_element_type promote_integers symmetrize_input upper"
"""Keywords that NumPy does not have and shapes do not depend on."""

for _name in _FUNCTIONS.split():
    adopt(f"jax.numpy.{_name}", f"numpy.{_name}", _IGNORED)
for _name in _LINALG.split():
    adopt(f"jax.numpy.linalg.{_name}", f"numpy.linalg.{_name}", _IGNORED)
for _name in _FFT.split():
    adopt(f"jax.numpy.fft.{_name}", f"numpy.fft.{_name}", _IGNORED)
for _name in _METHODS.split():
    adopt(f"jax.Array.{_name}", f"numpy.ndarray.{_name}", _IGNORED)
for _name in _ATTRIBUTES.split():
    adopt_attribute(f"jax.Array.{_name}", f"numpy.ndarray.{_name}")
for _name in _GRIDS.split():
    adopt(f"jax.numpy.{_name}", f"numpy.{_name}")
for _name in _UFUNCS.split():
    for _way in ("outer", "reduce", "accumulate", "reduceat"):
        adopt(f"jax.numpy.{_name}.{_way}", f"numpy.{_name}.{_way}", _IGNORED)
