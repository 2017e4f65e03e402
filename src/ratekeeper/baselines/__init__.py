"""Every rival system of the paper, each a scikit-learn classifier with the same words.

All take ``control`` ("fnr" or "fpr") and ``alpha``, where it applies ``delta``, and have ``fit``,
``predict``, ``decision_function`` and ``guarantee``, which says in words what is promised. Some
have ``p_values``. `ratekeeper.compare` sets them beside our own tests.
"""

from ratekeeper.baselines.umbrella import Umbrella

__all__ = ["Umbrella"]
