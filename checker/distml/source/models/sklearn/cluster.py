"""sklearn.cluster: https://scikit-learn.org/stable/api/sklearn.cluster.html"""

from sklearn.checks import Predictor


class KMeans(Predictor): ...


class MiniBatchKMeans(Predictor): ...


class DBSCAN(Predictor): ...


class AgglomerativeClustering(Predictor): ...
