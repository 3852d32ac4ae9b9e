"""NumPy: the forward pass of a hidden Markov model with kinds of emissions by name."""
import numpy as np

EMISSIONS = {}


def emission(name):
    def keep(function):
        EMISSIONS[name] = function
        return function

    return keep


@emission("gaussian")
def gaussian(x, means, scales):
    return -0.5 * (((x[:, None] - means) / scales) ** 2) - np.log(scales)


@emission("laplace")
def laplace(x, means, scales):
    return -np.abs(x[:, None] - means) / scales - np.log(2 * scales)


def logsumexp(a, axis):
    top = a.max(axis=axis, keepdims=True)
    return np.log(np.exp(a - top).sum(axis=axis)) + top.squeeze(axis)


def forward(x, kind, means, scales, start, transitions):
    scores = EMISSIONS[kind](x, means, scales)
    alpha = np.empty_like(scores)
    alpha[0] = start + scores[0]
    for t in range(1, len(x)):
        alpha[t] = logsumexp(alpha[t - 1][:, None] + transitions[:, :, None], axis=0) + scores[t]  # bug: an axis too many
    return logsumexp(alpha[-1], axis=0)


K = 3
x = np.random.randn(20)
print(forward(x, "laplace", np.arange(3.0), np.ones(K), np.zeros(K), np.zeros((K, K))).shape)
