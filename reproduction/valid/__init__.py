"""The study of ratekeeper's own test: does it keep its level, and what does it find."""
