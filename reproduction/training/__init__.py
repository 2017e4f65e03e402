"""Retrain the networks and simulate their tables: ``python -m reproduction.training``.

One seed decides everything. The steps, each in a file of its own:

1. `_simulation`: features of normal samples and of every training family, size by size.
2. `_learning`: one wide network, the teacher, learns to tell the families and the normal apart,
   which gives the likelihood ratio of each family to the normal.
3. `_prior`: how much each family counts in the omnibus test is chosen for mean power, under a
   floor for every group, family and member of a family that `_cells` draws.
4. `_distillation`: a small network for each alternative learns its mixture of those ratios.
5. `_tabulation`: the distribution of each small network's score, under normality and under the
   alternatives, is simulated for every sample size.

From Python, ``train(FULL, seed=...)`` does the same. What networks are trained and judged on can
be drawn from, too:

=============================================  ================================================
`TRAINING_FAMILIES`, `populations`             the families networks are trained on, by name, and
                                               which network is trained on which
`HELD_OUT_FAMILIES`                            families that are never trained on
`Family`                                       what both consist of: name, kind, draw
`GROUPS`, `draw_group`                         the four groups of the published comparison
`NEARLY_NORMAL`                                distributions that are close to the normal
`sample_pearson`, `pearson_type`,              the Pearson system, and the part of it in the
`pearson_grid`                                 published experiment
=============================================  ================================================
"""

from reproduction.training._families import TRAINING_FAMILIES
from reproduction.training._groups import GROUPS, NEARLY_NORMAL, draw_group
from reproduction.training._held_out import HELD_OUT_FAMILIES
from reproduction.training._pearson import pearson_grid, pearson_type, sample_pearson
from reproduction.training._pipeline import FULL, QUICK, Plan, populations, train
from reproduction.training._shapes import Family

__all__ = [
    "FULL",
    "GROUPS",
    "HELD_OUT_FAMILIES",
    "NEARLY_NORMAL",
    "QUICK",
    "TRAINING_FAMILIES",
    "Family",
    "Plan",
    "draw_group",
    "pearson_grid",
    "pearson_type",
    "populations",
    "sample_pearson",
    "train",
]
