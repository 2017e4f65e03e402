"""Every rival system of the paper, each a scikit-learn classifier with the same words.

All take ``control`` ("fnr" or "fpr") and ``alpha``, where it applies ``delta``, and have ``fit``,
``predict``, ``decision_function`` and ``guarantee``, which says in words what is promised. Some
have ``p_values``. `ratekeeper.compare` sets them beside our own tests.
"""

from ratekeeper.baselines.conformal_risk import ConformalRiskControl
from ratekeeper.baselines.constrained_threshold import ConstrainedThreshold
from ratekeeper.baselines.convex_aggregation import ConvexAggregation
from ratekeeper.baselines.cost_thresholding import CostThresholding
from ratekeeper.baselines.cost_tree import CostTree
from ratekeeper.baselines.cost_weighting import CostWeighting
from ratekeeper.baselines.costing import Costing
from ratekeeper.baselines.cross_validated_lda import CrossValidatedLDA
from ratekeeper.baselines.cross_validated_neighbours import CrossValidatedNeighbours
from ratekeeper.baselines.cross_validated_refit import CrossValidatedRefit
from ratekeeper.baselines.density_typicality import DensityTypicality
from ratekeeper.baselines.distance_rank_sum import DistanceRankSum
from ratekeeper.baselines.elkan import ElkanThreshold
from ratekeeper.baselines.gaussian_typicality import GaussianTypicality
from ratekeeper.baselines.interpoint_average import InterpointAverage
from ratekeeper.baselines.interpoint_minimum import InterpointMinimum
from ratekeeper.baselines.learn_then_test import LearnThenTest
from ratekeeper.baselines.liao_akritas import LiaoAkritas
from ratekeeper.baselines.metacost import MetaCost
from ratekeeper.baselines.multiplier_search import MultiplierSearch
from ratekeeper.baselines.normal_tolerance import NormalTolerance
from ratekeeper.baselines.np_lda import NPLDA
from ratekeeper.baselines.np_roc import NPROC, np_roc
from ratekeeper.baselines.nsn2 import NSN2
from ratekeeper.baselines.plug_in import PlugInNP
from ratekeeper.baselines.tuned_threshold import TunedThreshold
from ratekeeper.baselines.umbrella import Umbrella

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
