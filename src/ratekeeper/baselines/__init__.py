"""Every rival system of the paper, each a scikit-learn classifier with the same words.

All take ``control`` ("fnr" or "fpr") and ``alpha``, where it applies ``delta``, and have ``fit``,
``predict``, ``decision_function`` and ``guarantee``, which says in words what is promised. Some
have ``p_values``. `ratekeeper.compare` sets them beside our own tests. A folder is a family, a file
a system, and no system imports another. Imports `ratekeeper.calibration` and what is below it.
Start with `_system`: what a system writes, and what it gets for it.
"""

from ratekeeper.baselines._cost_sensitive.cost_naive_bayes import CostNaiveBayes
from ratekeeper.baselines._cost_sensitive.cost_pruned_tree import CostPrunedTree
from ratekeeper.baselines._cost_sensitive.cost_thresholding import CostThresholding
from ratekeeper.baselines._cost_sensitive.cost_tree import CostTree
from ratekeeper.baselines._cost_sensitive.cost_weighting import CostWeighting
from ratekeeper.baselines._cost_sensitive.costing import Costing
from ratekeeper.baselines._cost_sensitive.curtailed_tree import CurtailedTree
from ratekeeper.baselines._cost_sensitive.elkan import ElkanThreshold
from ratekeeper.baselines._cost_sensitive.icet import ICET
from ratekeeper.baselines._cost_sensitive.loss_allocation import LossAllocation
from ratekeeper.baselines._cost_sensitive.metacost import MetaCost
from ratekeeper.baselines._cost_sensitive.minimal_cost_tree import MinimalCostTree
from ratekeeper.baselines._cost_sensitive.minimal_expected_cost import MinimalExpectedCost
from ratekeeper.baselines._cross_validated.lda import CrossValidatedLDA
from ratekeeper.baselines._cross_validated.neighbours import CrossValidatedNeighbours
from ratekeeper.baselines._cross_validated.refit import CrossValidatedRefit
from ratekeeper.baselines._modern.conformal_risk import ConformalRiskControl
from ratekeeper.baselines._modern.learn_then_test import LearnThenTest
from ratekeeper.baselines._modern.tuned_threshold import TunedThreshold
from ratekeeper.baselines._neyman_pearson.constrained_threshold import ConstrainedThreshold
from ratekeeper.baselines._neyman_pearson.convex_aggregation import ConvexAggregation
from ratekeeper.baselines._neyman_pearson.convex_np import ConvexNP
from ratekeeper.baselines._neyman_pearson.convex_splitting import ConvexSplitting
from ratekeeper.baselines._neyman_pearson.multiplier_search import MultiplierSearch
from ratekeeper.baselines._neyman_pearson.normal_tolerance import NormalTolerance
from ratekeeper.baselines._neyman_pearson.np_lda import NPLDA
from ratekeeper.baselines._neyman_pearson.np_roc import NPROC, np_roc
from ratekeeper.baselines._neyman_pearson.np_roc_threshold import NPROCThreshold
from ratekeeper.baselines._neyman_pearson.np_selection import NPSelection, np_measure
from ratekeeper.baselines._neyman_pearson.nsn2 import NSN2
from ratekeeper.baselines._neyman_pearson.plug_in import PlugInNP
from ratekeeper.baselines._neyman_pearson.two_cost_svm import TwoCostSVM
from ratekeeper.baselines._neyman_pearson.umbrella import Umbrella
from ratekeeper.baselines._proxy_tests.distance_rank_sum import DistanceRankSum
from ratekeeper.baselines._proxy_tests.interpoint_average import InterpointAverage
from ratekeeper.baselines._proxy_tests.interpoint_minimum import InterpointMinimum
from ratekeeper.baselines._proxy_tests.liao_akritas import LiaoAkritas
from ratekeeper.baselines._typicality.density import DensityTypicality
from ratekeeper.baselines._typicality.gaussian import GaussianTypicality

__all__ = [
    "ICET",
    "NPLDA",
    "NPROC",
    "NSN2",
    "ConformalRiskControl",
    "ConstrainedThreshold",
    "ConvexAggregation",
    "ConvexNP",
    "ConvexSplitting",
    "CostNaiveBayes",
    "CostPrunedTree",
    "CostThresholding",
    "CostTree",
    "CostWeighting",
    "Costing",
    "CrossValidatedLDA",
    "CrossValidatedNeighbours",
    "CrossValidatedRefit",
    "CurtailedTree",
    "DensityTypicality",
    "DistanceRankSum",
    "ElkanThreshold",
    "GaussianTypicality",
    "InterpointAverage",
    "InterpointMinimum",
    "LearnThenTest",
    "LiaoAkritas",
    "LossAllocation",
    "MetaCost",
    "MinimalCostTree",
    "MinimalExpectedCost",
    "MultiplierSearch",
    "NPROCThreshold",
    "NPSelection",
    "NormalTolerance",
    "PlugInNP",
    "TunedThreshold",
    "TwoCostSVM",
    "Umbrella",
    "np_measure",
    "np_roc",
]
