"""Every rival system of the paper, each a scikit-learn classifier with the same words.

All take ``control`` ("fnr" or "fpr") and ``alpha``, where it applies ``delta``, and have ``fit``,
``predict``, ``decision_function`` and ``guarantee``, which says in words what is promised. Some
have ``p_values``. `ratekeeper.compare` sets them beside our own tests.
"""

from ratekeeper.baselines.cost_sensitive.cost_thresholding import CostThresholding
from ratekeeper.baselines.cost_sensitive.cost_tree import CostTree
from ratekeeper.baselines.cost_sensitive.cost_weighting import CostWeighting
from ratekeeper.baselines.cost_sensitive.costing import Costing
from ratekeeper.baselines.cost_sensitive.elkan import ElkanThreshold
from ratekeeper.baselines.cost_sensitive.metacost import MetaCost
from ratekeeper.baselines.cross_validated.lda import CrossValidatedLDA
from ratekeeper.baselines.cross_validated.neighbours import CrossValidatedNeighbours
from ratekeeper.baselines.cross_validated.refit import CrossValidatedRefit
from ratekeeper.baselines.modern.conformal_risk import ConformalRiskControl
from ratekeeper.baselines.modern.learn_then_test import LearnThenTest
from ratekeeper.baselines.modern.tuned_threshold import TunedThreshold
from ratekeeper.baselines.neyman_pearson.constrained_threshold import ConstrainedThreshold
from ratekeeper.baselines.neyman_pearson.convex_aggregation import ConvexAggregation
from ratekeeper.baselines.neyman_pearson.multiplier_search import MultiplierSearch
from ratekeeper.baselines.neyman_pearson.normal_tolerance import NormalTolerance
from ratekeeper.baselines.neyman_pearson.np_lda import NPLDA
from ratekeeper.baselines.neyman_pearson.np_roc import NPROC, np_roc
from ratekeeper.baselines.neyman_pearson.nsn2 import NSN2
from ratekeeper.baselines.neyman_pearson.plug_in import PlugInNP
from ratekeeper.baselines.neyman_pearson.umbrella import Umbrella
from ratekeeper.baselines.proxy_tests.distance_rank_sum import DistanceRankSum
from ratekeeper.baselines.proxy_tests.interpoint_average import InterpointAverage
from ratekeeper.baselines.proxy_tests.interpoint_minimum import InterpointMinimum
from ratekeeper.baselines.proxy_tests.liao_akritas import LiaoAkritas
from ratekeeper.baselines.typicality.density import DensityTypicality
from ratekeeper.baselines.typicality.gaussian import GaussianTypicality

__all__ = [
    "NPLDA",
    "NPROC",
    "NSN2",
    "ConformalRiskControl",
    "ConstrainedThreshold",
    "ConvexAggregation",
    "CostThresholding",
    "CostTree",
    "CostWeighting",
    "Costing",
    "CrossValidatedLDA",
    "CrossValidatedNeighbours",
    "CrossValidatedRefit",
    "DensityTypicality",
    "DistanceRankSum",
    "ElkanThreshold",
    "GaussianTypicality",
    "InterpointAverage",
    "InterpointMinimum",
    "LearnThenTest",
    "LiaoAkritas",
    "MetaCost",
    "MultiplierSearch",
    "NormalTolerance",
    "PlugInNP",
    "TunedThreshold",
    "Umbrella",
    "np_roc",
]
