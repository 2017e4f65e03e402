"""The operating system: files written whole, locks, threads, processes, a progress bar.

Nothing here knows what a score is. Imports `exceptions` and `_wording`. Start with `_atomic_files`,
which writes every output of the package whole or not at all.
"""
