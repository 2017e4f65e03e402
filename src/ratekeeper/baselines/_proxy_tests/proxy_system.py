"""What systems that use a statistical test as a proxy share: no promise, and saying so."""

from __future__ import annotations

from ratekeeper.baselines._system import System
from ratekeeper.methods import Guarantee


class ProxySystem(System):
    """A system that compares the two classes' tests with each other, not a p-value with alpha."""

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return Guarantee(
            kind="none",
            promise=(
                "None: each object goes to the class whose test speaks for it more, and alpha is "
                "not looked at."
            ),
            condition="nothing, since nothing is promised.",
            not_covered=(
                "either error rate, which depends on the data and often on the class sizes; "
                "ErrorRateController with this system inside keeps one of them."
            ),
        )
