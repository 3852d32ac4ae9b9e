"""scipy.spatial: https://docs.scipy.org/doc/scipy/reference/spatial.html"""

import numpy as np
from _arrays import as_array, is_array
from _elsewhere import resolved


class KDTree:
    """KDTree(data): points by coordinates; `query` gets as many coordinates"""

    def __init__(self, data, *args, **options):
        points = as_array(data)
        if is_array(points):
            axes_of_data = points.ndim
            assert axes_of_data == 2
        self._coordinates = points.shape[1] if is_array(points) else None

    def __getattr__(self, name):
        return resolved(name)

    def query(self, x, k=1, *args, **options):
        """Distances and numbers of the nearest points."""
        places = as_array(x)
        if not is_array(places) or not isinstance(self._coordinates, int):
            return resolved(places), resolved(places)
        coordinates, of_each_point = places.shape[-1], self._coordinates
        assert coordinates == of_each_point
        if not isinstance(k, int):
            return resolved(k), resolved(k)
        sizes = places.shape[:-1] if k == 1 else (*places.shape[:-1], k)
        return np.empty(sizes), np.empty(sizes, dtype=int)


cKDTree = KDTree
