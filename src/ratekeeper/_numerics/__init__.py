"""Arrays in, arrays out: the mathematics, without a calibration or a user's column in sight.

Imports `_reading` (for checks), `_system`, `exceptions` and `_wording`. Start with `_ranks`, the
one hot kernel: how many calibration scores are as extreme as a new one. `_realised_rate` has
the Beta distribution of a test's true rate, `_rates` exact intervals and tails of counted errors,
`_sequential` the evidence behind a monitor.
"""
