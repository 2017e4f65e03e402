"""Speed, always beside a peer measured in the same run. ``python -m benchmarks`` prints ratios."""
