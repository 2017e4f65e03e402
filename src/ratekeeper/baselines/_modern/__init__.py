"""Later ways to keep a rate: learn then test, conformal risk control, a tuned threshold.

None of them is in the paper; they are what people would use today. Start with `learn_then_test`.
"""
