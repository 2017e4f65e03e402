"""A fitted controller goes through skops, with a short list of types to trust."""

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
OURS = [  # as docs/guides/models.md has them
    "ratekeeper._calibration.Calibration",
    "ratekeeper._control.ErrorRateTest",
    "ratekeeper._draws.Draw",
    "ratekeeper._estimators.ErrorRateController",
]
ABSTAINING = "ratekeeper._abstaining.AbstainingTest"
METHODS = "ratekeeper.methods."


def controller(**options):
    return rk.ErrorRateController(FrozenEstimator(MODEL), **options).fit(X[300:], Y[300:])


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({}, ["_high_probability.HighProbability"]),
        ({"method": rk.Conformal(), "control": "fpr"}, ["_conformal.Conformal"]),
        ({"method": rk.Simultaneous()}, ["_simultaneous.Simultaneous"]),
        ({"method": rk.Parametric("norm"), "alpha": 0.1}, ["_parametric.Parametric"]),
        ({"control": "both", "undecided": -1}, ["_high_probability.HighProbability", ABSTAINING]),
    ],
)
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ContradictedFitWarning")
def test_a_controller_comes_back_as_it_was(options, more):
    """Decisions, p-values and certificate are the same, and few types are to be trusted."""
    clf = controller(**options)
    clf.predict(X[:20]), str(clf.certificate_)  # what it remembers of that is not written
    content = skops.dumps(clf)
    trusted = [*OURS, *(one if one == ABSTAINING else f"{METHODS}{one}" for one in more)]
    assert sorted(skops.get_untrusted_types(data=content)) == sorted(trusted)
    again = skops.loads(content, trusted=trusted)
    assert np.array_equal(again.predict(X), clf.predict(X))
    assert np.array_equal(again.p_values(X).p1, clf.p_values(X).p1)
    assert again.certificate_.to_json() == clf.certificate_.to_json()


def test_types_that_are_not_trusted_are_refused():
    """Without the list nothing is loaded."""
    with pytest.raises(skops.exceptions.UntrustedTypesFoundException, match="ErrorRateController"):
        skops.loads(skops.dumps(controller()))
