"""Systems that limit one error rate and make the other small.

One file per system; `surrogates`, `relaxation`, `order_statistic` and `normal_scores` are shared.
Start with `umbrella`, the one whose promise is proven for any classifier.
"""
