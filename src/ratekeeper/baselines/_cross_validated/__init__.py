"""P-values from classifiers that are trained with the new object among the rows.

`refit` does it for any classifier; linear discriminants and neighbours have closed forms. Start
with `ranking`, the p-value that all share.
"""
