"""Later ways to keep a rate: learn then test, conformal risk control, a tuned threshold."""
