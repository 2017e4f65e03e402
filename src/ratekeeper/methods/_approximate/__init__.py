"""The paper's other estimators, whose promise holds only in the limit of many scores.

A file is a method, shaped like those one folder up. `_fitted` is what the parametric and the kernel
method share, with the check that warns of a fit which the scores contradict. Start with
`_empirical`, the paper's own.
"""
