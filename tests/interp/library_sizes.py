"""Calls of SciPy, scikit-learn and pandas, and the size of what each gives.

`PYTHONPATH=tests python -m interp.library_sizes` compares them with the libraries themselves, which the tests do without:
SciPy 1.17, scikit-learn 1.9, pandas 3.1.
"""

from __future__ import annotations

import warnings
from typing import Any

SCIPY = """import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy import signal
x, y, two = np.arange(1000.0) % 7, np.arange(1000.0) % 5, np.ones((3, 1000))
m, n = sp.csr_matrix(np.eye(4, 6)), sp.csr_matrix(np.eye(3, 2))
s = sp.csc_matrix(np.eye(5) * 2)
"""
SCIPY_SIZES = {
    "signal.decimate(x, 8)": [125],
    "signal.decimate(two, 7, ftype='fir')": [3, 143],
    "signal.resample_poly(x, 3, 7)": [429],
    "signal.resample_poly(two, 2, 3, axis=1)": [3, 667],
    "signal.resample_poly(two, 5, 2)": [8, 1000],
    "signal.welch(x)[0]": [129],
    "signal.welch(two, 100.0, nperseg=128)[1]": [3, 65],
    "signal.welch(x[:90], nperseg=256)[1]": [46],
    "signal.welch(x, nperseg=100, nfft=512)[1]": [257],
    "signal.csd(x, y, nperseg=64)[1]": [33],
    "signal.coherence(two, two, fs=10, nperseg=200)[1]": [3, 101],
    "signal.spectrogram(x)[2]": [129, 4],
    "signal.spectrogram(x, 50, nperseg=64, noverlap=16)[2]": [33, 20],
    "signal.spectrogram(two, nperseg=100)[1]": [11],
    "signal.stft(x, nperseg=64)[2]": [33, 33],
    "signal.stft(x[:997], nperseg=65, noverlap=40)[2]": [33, 41],
    "signal.stft(two)[2]": [3, 129, 9],
    "signal.istft(np.ones((33, 20)))[1]": [608],
    "signal.istft(np.ones((2, 129, 9)), nperseg=256, noverlap=192)[1]": [2, 512],
    "signal.istft(signal.stft(x, nperseg=256)[2], nperseg=256)[1]": [1024],
    "signal.cheby1(4, 1, 0.2)[0]": [5],
    "signal.cheby2(3, 30, [0.1, 0.3], 'band')[1]": [7],
    "signal.ellip(5, 1, 40, 0.3, output='sos')": [3, 6],
    "signal.bessel(2, 0.2)[0]": [3],
    "signal.iirnotch(0.2, 30)[1]": [3],
    "signal.firwin(31, 0.3)": [31],
    "signal.firwin2(21, [0, 0.5, 1], [1, 1, 0])": [21],
    "signal.lfilter_zi(*signal.butter(4, 0.2))": [4],
    "signal.freqz(signal.firwin(9, 0.3))[1]": [512],
    "signal.freqz([1, 2], worN=100)[0]": [100],
    "signal.sosfreqz(signal.butter(4, 0.2, output='sos'), 64)[1]": [64],
    "signal.chirp(x, 1, 1, 5)": [1000],
    "signal.square(two)": [3, 1000],
    "signal.windows.hann(17)": [17],
    "signal.windows.kaiser(9, beta=3)": [9],
    "sp.kron(m, n).toarray()": [12, 12],
    "sp.kron(sp.eye(3), s).toarray()": [15, 15],
    "sp.kronsum(s, sp.eye(3)).toarray()": [15, 15],
    "sp.block_diag([m, n, s]).toarray()": [12, 13],
    "sp.block_diag((m, n), format='csr') @ np.ones(8)": [7],
    "sp.bmat([[m, m], [m, m]]).toarray()": [8, 12],
    "sp.diags([np.ones(4), np.ones(5), np.ones(4)], [-1, 0, 1]).toarray()": [5, 5],
    "sp.diags([np.ones(7), np.ones(9)], [-3, 1]).toarray()": [10, 10],
    "sp.diags(np.ones(4), 2).toarray()": [6, 6],
    "sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(6, 6)).toarray()": [6, 6],
    "(sp.diags([np.ones(4), np.ones(5)], [1, 0]) / 4 + s).tocsr() @ np.ones(5)": [5],
    "sp.spdiags(np.ones((2, 8)), [0, 1], 8, 8).toarray()": [8, 8],
    "sp.tril(m).toarray()": [4, 6],
    "sp.triu(s, 1) @ np.ones((5, 2))": [5, 2],
    "spla.spsolve(s, np.ones(5))": [5],
    "spla.cg(s, np.ones(5))[0]": [5],
    "spla.lsqr(m, np.ones(4))[0]": [6],
    "spla.splu(s).solve(np.ones((5, 3)))": [5, 3],
    "spla.factorized(s)(np.ones(5))": [5],
    "spla.eigsh(s, k=2)[1]": [5, 2],
    "spla.eigsh(s, 3, return_eigenvectors=False)": [3],
    "spla.svds(m, k=2)[0]": [4, 2],
    "spla.svds(m, k=2)[2]": [2, 6],
    "spla.inv(s).toarray()": [5, 5],
    "spla.expm(s).toarray()": [5, 5],
}
SKLEARN = """import numpy as np
from sklearn import cluster, decomposition, impute, linear_model, metrics, mixture, model_selection, neighbors, tree
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import pairwise
rng = np.random.default_rng(0)
X, y = rng.random((60, 6)), np.arange(60) % 3
new = rng.random((11, 6))
def part(folds, number=0, of=X):
    for each in range(number + 1):
        found = next(rest) if each else next(rest := folds.split(of, y))
    return of[found[0]], of[found[1]]
"""
SKLEARN_SIZES = {
    "part(model_selection.KFold(7))[1]": [9, 6],
    "part(model_selection.KFold(7), 4)[1]": [8, 6],
    "part(model_selection.KFold(7, shuffle=True), 3)[0]": [51, 6],
    "part(model_selection.StratifiedKFold(4), 1)[1]": [15, 6],
    "part(model_selection.StratifiedKFold(n_splits=5), 4, X[:60])[0]": [48, 6],
    "part(model_selection.RepeatedKFold(n_splits=3, n_repeats=2), 4)[0]": [40, 6],
    "part(model_selection.LeaveOneOut(), 2)[0]": [59, 6],
    "part(model_selection.ShuffleSplit(3, test_size=0.25), 1)[1]": [15, 6],
    "part(model_selection.ShuffleSplit(3))[0]": [54, 6],
    "part(model_selection.StratifiedShuffleSplit(2, test_size=12))[0]": [48, 6],
    "part(model_selection.TimeSeriesSplit(4), 0)[0]": [12, 6],
    "part(model_selection.TimeSeriesSplit(4), 3)[0]": [48, 6],
    "part(model_selection.TimeSeriesSplit(n_splits=7), 1)[1]": [7, 6],
    "part(model_selection.TimeSeriesSplit(3, test_size=9), 1)[0]": [42, 6],
    "model_selection.cross_val_predict(linear_model.Ridge(), X, y)": [60],
    "decomposition.PCA(3).fit(X).components_": [3, 6],
    "decomposition.PCA(n_components=2).fit(X).explained_variance_ratio_": [2],
    "decomposition.PCA(2).fit(X).mean_": [6],
    "decomposition.PCA(2).fit(X).inverse_transform(np.ones((9, 2)))": [9, 6],
    "decomposition.TruncatedSVD().fit(X).components_": [2, 6],
    "decomposition.TruncatedSVD(3).fit_transform(X)": [60, 3],
    "decomposition.NMF(2).fit(X).components_": [2, 6],
    "decomposition.NMF(3).fit_transform(X)": [60, 3],
    "decomposition.IncrementalPCA(2).fit(X).transform(new)": [11, 2],
    "decomposition.FastICA(2).fit(X).transform(new)": [11, 2],
    "decomposition.FactorAnalysis(4).fit_transform(X)": [60, 4],
    "LinearDiscriminantAnalysis(n_components=2).fit(X, y).transform(new)": [11, 2],
    "LinearDiscriminantAnalysis().fit(X, y).scalings_[:, 0]": [6],
    "LinearDiscriminantAnalysis(n_components=1).fit_transform(X, y)": [60, 1],
    "LinearDiscriminantAnalysis().fit(X, y).predict(new)": [11],
    "cluster.KMeans(4).fit(X).cluster_centers_": [4, 6],
    "cluster.KMeans(n_clusters=3).fit(X).labels_": [60],
    "cluster.KMeans(3).fit(X).transform(new)": [11, 3],
    "cluster.KMeans(3).fit(X).predict(new)": [11],
    "cluster.MiniBatchKMeans(2).fit(X).cluster_centers_": [2, 6],
    "cluster.DBSCAN().fit(X).labels_": [60],
    "mixture.GaussianMixture(3).fit(X).means_": [3, 6],
    "mixture.GaussianMixture(2).fit(X).covariances_": [2, 6, 6],
    "mixture.GaussianMixture(2).fit(X).weights_": [2],
    "mixture.GaussianMixture(2).fit(X).predict_proba(new)": [11, 2],
    "mixture.GaussianMixture(2).fit_predict(X)": [60],
    "mixture.GaussianMixture(2).fit(X).score_samples(new)": [11],
    "mixture.GaussianMixture(2).fit(X).sample(8)[0]": [8, 6],
    "neighbors.NearestNeighbors(n_neighbors=4).fit(X).kneighbors(new)[0]": [11, 4],
    "neighbors.NearestNeighbors().fit(X).kneighbors(new, return_distance=False)": [11, 5],
    "neighbors.KNeighborsClassifier(3).fit(X, y).kneighbors(new)[1]": [11, 3],
    "X[neighbors.NearestNeighbors(n_neighbors=4).fit(X).kneighbors(new)[1]]": [11, 4, 6],
    "tree.DecisionTreeClassifier().fit(X, y).predict_proba(new)[:, 0]": [11],
    "impute.SimpleImputer().fit(X).transform(new)[:, 0]": [11],
    "impute.KNNImputer().fit_transform(X)[:, 0]": [60],
    "pairwise.cosine_similarity(X, new)": [60, 11],
    "pairwise.rbf_kernel(new)": [11, 11],
    "pairwise.linear_kernel(new, X)": [11, 60],
    "metrics.pairwise_distances(X, new, metric='cosine')": [60, 11],
    "metrics.euclidean_distances(new)": [11, 11],
}
PANDAS = """import numpy as np
import pandas as pd
days = pd.date_range('2020-01-01', periods=30)
df = pd.DataFrame({'a': np.arange(30.0), 'b': np.ones(30)}, index=days)
"""
PANDAS_SIZES = {
    "df.values": [30, 2],
    "df.iloc[7:].to_numpy()": [23, 2],
    "df.shift(1).iloc[1:].values": [29, 2],
    "df['a'].rolling(5).mean().values": [30],
    "df.rolling(3).std().to_numpy()": [30, 2],
    "df['b'].ewm(span=4).mean().to_numpy()": [30],
    "df.expanding().max().values": [30, 2],
    "df['a'].rolling(7).apply(np.mean).values": [30],
    "days.values": [30],
    "days[5:].to_numpy()": [25],
    "pd.Series(np.ones(30), index=days).to_numpy()": [30],
    "pd.Series(0.0, index=days).values": [30],
    "pd.Series(np.ones(30), days).values": [30],
    "pd.DataFrame({'k': 1.0, 'l': np.ones(30)}, index=days).values": [30, 2],
    "pd.DataFrame(np.ones((30, 3)), index=days, columns=['a', 'b', 'c']).values": [30, 3],
    "pd.DataFrame({'x': [1, 2, 3]}, index=pd.RangeIndex(3)).values": [3, 1],
    "pd.DataFrame({'x': [1.0, 2.0]}, index=['r', 's']).to_numpy()": [2, 1],
}
TABLES = {"SciPy": (SCIPY, SCIPY_SIZES), "scikit-learn": (SKLEARN, SKLEARN_SIZES), "pandas": (PANDAS, PANDAS_SIZES)}


def main() -> None:
    """Says where a library gives another size."""
    warnings.simplefilter("ignore")
    for library, (head, sizes) in TABLES.items():
        names: dict[str, Any] = {}
        exec(head, names)
        for call, size in sizes.items():
            real = list(eval(call, names).shape)
            if real != size:
                print(f"{library}: {call}: {real}, not {size}")


if __name__ == "__main__":
    main()
