"""The paper's other estimators, which fit or resample the scores and promise nothing exactly.

A file is a method, shaped like those one folder up. `_fitted` is what the parametric and the kernel
method share, with the check that warns of a fit which the scores contradict. Start with `_kernel`.
"""
