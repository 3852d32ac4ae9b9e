"""torch.distributions: what is drawn and how likely it is, against the real ones; parameters and values that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp.differential import compare_runs
from interp.programs import errors_of

pytestmark = pytest.mark.requires("torch")

HEAD = "import torch\nimport torch.distributions as D\nz, o = torch.zeros, torch.ones\n"
MADE = (
    "Normal(z(3, 4), o(4))",
    "Normal(0.0, 1.0)",
    "Normal(loc=z(3, 1), scale=o(1, 5))",
    "Uniform(z(2), 1.0)",
    "Beta(0.4, 0.4)",
    "Gamma(o(3), 2.0)",
    "Laplace(0.0, o(2, 3))",
    "Exponential(o(4))",
    "StudentT(o(3))",
    "StudentT(2.0, z(3, 1), o(4))",
    "Poisson(o(2, 2))",
    "LogNormal(z(3), 1.0)",
    "HalfNormal(o(3))",
    "Bernoulli(probs=o(3, 2) / 2)",
    "Bernoulli(logits=z(5))",
    "Bernoulli(o(4) / 2)",
    "Binomial(5, o(3) / 2)",
    "Geometric(o(3) / 2)",
    "Categorical(o(3, 4) / 4)",
    "Categorical(logits=z(4))",
    "Categorical(logits=z(2, 3, 4))",
    "OneHotCategorical(logits=z(3, 4))",
    "Multinomial(6, o(3, 4) / 4)",
    "Dirichlet(o(4))",
    "Dirichlet(o(2, 4))",
    "MultivariateNormal(z(3), torch.eye(3))",
    "MultivariateNormal(z(2, 3), scale_tril=torch.eye(3))",
    "MultivariateNormal(z(3), torch.eye(3).expand(4, 3, 3))",
    "Independent(D.Normal(z(3, 4), 1.0), 1)",
    "Independent(D.Normal(z(2, 3, 4), 1.0), 2)",
    "RelaxedBernoulli(torch.tensor(0.5), logits=z(3))",
    "RelaxedOneHotCategorical(torch.tensor(0.5), logits=z(3, 4))",
)
ASKED = "sample() sample((5,)) sample(torch.Size([2,6])) log_prob(d.sample()) log_prob(d.sample((5,))) batch_shape event_shape"


@pytest.mark.parametrize("made", MADE)
def test_draws_and_how_likely_they_are(made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"reveal_shape(d.{each})" for each in ASKED.split()]
    if "Multinomial" not in made and "Poisson" not in made and "Relaxed" not in made and "Binomial" not in made:
        lines += ["reveal_shape(d.entropy())", "reveal_shape(d.mean)"] if "OneHot" not in made else []
    program = f"{HEAD}d = D.{made}\n" + "\n".join(lines) + "\n"
    compared, problems = compare_runs(program, tmp_path, monkeypatch)
    assert not problems, "\n".join(problems)
    assert compared.exact()[1]


@pytest.mark.parametrize(
    "wrong",
    [
        "D.Normal(z(3), o(4))",
        "D.Normal(z(3), 1.0).log_prob(z(4))",
        "D.Categorical(logits=z(3, 4)).log_prob(z(4))",
        "D.kl_divergence(D.Normal(z(3), 1.0), D.Normal(z(4), 1.0))",
        "D.Dirichlet(o(4)).sample((2,)) + z(3)",
        "D.Beta(o(3), 1.0).sample() + z(4)",
    ],
)
def test_what_does_not_fit(wrong: str) -> None:
    found = errors_of(f"{HEAD}x = {wrong}\n")
    assert [each.span.line for each in found] == [4], found


@pytest.mark.parametrize(
    "right",
    [
        "D.Normal(z(3), 1.0).log_prob(z(5, 3)) + z(5, 3)",
        "D.Normal(z(3), 1.0).log_prob(z(1)) + z(3)",
        "D.Categorical(logits=z(3, 4)).log_prob(z(7, 3)) + z(7, 3)",
        "D.Categorical(logits=z(3, 4)).log_prob(torch.tensor(1)) + z(3)",
        "D.MultivariateNormal(z(3), torch.eye(3)).log_prob(z(8, 3)) + z(8)",
        "D.kl_divergence(D.Normal(z(3), 1.0), D.Normal(z(4, 1), 1.0)) + z(4, 3)",
        "D.Normal(z(3), 1.0).expand((2, 3)).sample() + z(2, 3)",
        "D.TransformedDistribution(D.Normal(z(3), 1.0), [D.ExpTransform()]).sample((2,)) + z(2, 3)",
    ],
)
def test_what_fits(right: str) -> None:
    assert not errors_of(f"{HEAD}x = {right}\n")
