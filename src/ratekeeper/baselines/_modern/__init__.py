"""Later ways to keep a rate: learn then test, conformal risk control, a tuned threshold.

They came after the systems that the paper compares with. Start with `learn_then_test`, whose
promise is the strongest.
"""
