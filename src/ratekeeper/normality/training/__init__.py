"""Retrain the networks and simulate their tables: ``python -m ratekeeper.normality.training``.

One seed decides everything. The steps, each in a file of its own:

1. `simulation`: features of normal samples and of every training family, size by size.
2. `learning`: one wide network, the teacher, learns to tell the families and the normal apart,
   which gives the likelihood ratio of each family to the normal.
3. `prior`: how much each family counts in the omnibus test is chosen for power in every group.
4. `distillation`: a small network for each alternative learns its mixture of those ratios.
5. `tabulation`: the law of each small network's score, under normality and under the
   alternatives, is simulated for every sample size.
"""

from ratekeeper.normality.training._pipeline import FULL, QUICK, Plan, train

__all__ = ["FULL", "QUICK", "Plan", "train"]
