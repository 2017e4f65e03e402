"""Systems that limit one error rate and make the other small."""
