"""P-values that say how typical an object is of a class, by the class's density.

`gaussian` has the exact F distribution, `density` the ranks of any density. Both look at one class
only, so they know nothing of the other error. Start with `gaussian`.
"""
