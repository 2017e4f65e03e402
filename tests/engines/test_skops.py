"""A fitted controller goes through skops, with a short list of types to trust."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk

skops = pytest.importorskip("skops.io")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1_500, 3))
Y = (X[:, 0] + RNG.normal(size=1_500) > 0).astype(int)
MODEL = LogisticRegression().fit(X[:300], Y[:300])
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "models.md"


def place(kind):
    """Return the name by which skops knows a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


# What the guide trusts, except the types that not every controller has.
SOME = [place(kind) for kind in (rk.HighProbability, rk.control.AbstainingTest)]
NAMED = re.findall(r'"(ratekeeper\.[\w.]+)"', GUIDE.read_text("utf-8"))
OURS = [name for name in NAMED if name not in SOME]


def controller(**options):
    return rk.ErrorRateController(FrozenEstimator(MODEL), **options).fit(X[300:], Y[300:])


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({}, [rk.HighProbability]),
        ({"method": rk.Conformal(), "control": "fpr"}, [rk.Conformal]),
        ({"method": rk.Simultaneous()}, [rk.Simultaneous]),
        ({"method": rk.methods.Parametric("norm"), "alpha": 0.1}, [rk.methods.Parametric]),
        ({"control": "both", "undecided": -1}, [rk.HighProbability, rk.control.AbstainingTest]),
    ],
)
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ContradictedFitWarning")
def test_a_controller_comes_back_as_it_was(options, more):
    """Decisions, p-values and certificate are the same, and few types are to be trusted."""
    clf = controller(**options)
    clf.predict(X[:20]), str(clf.certificate_)  # what it remembers of that is not written
    content = skops.dumps(clf)
    trusted = [*OURS, *map(place, more)]
    assert sorted(skops.get_untrusted_types(data=content)) == sorted(trusted)
    again = skops.loads(content, trusted=trusted)
    assert np.array_equal(again.predict(X), clf.predict(X))
    assert np.array_equal(again.p_values(X).p1, clf.p_values(X).p1)
    assert again.certificate_.to_json() == clf.certificate_.to_json()


def test_the_guide_names_the_types_that_some_controllers_have():
    """The types of the default method and of abstaining tests are in the guide, too."""
    assert set(SOME) < set(NAMED)


def test_types_that_are_not_trusted_are_refused():
    """Without the list nothing is loaded."""
    with pytest.raises(skops.exceptions.UntrustedTypesFoundException, match="ErrorRateController"):
        skops.loads(skops.dumps(controller()))
