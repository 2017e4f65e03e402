"""What users pass, read once: columns to checked arrays, parameters to checked values.

A value that cannot be used is refused here with what was found, what is needed and what to do.
Imports `_system`, `exceptions` and `_wording`. Start with `_columns` for scores, labels and groups
from any library, and with `_parameters` for everything else.
"""
