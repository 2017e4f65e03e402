"""Tests and calibrations as ``.rk`` files: `save` and `load`.

A file states what the test was made from; `load` rebuilds the test and compares its thresholds.
`_files` is the door, `_container` the layout, `_schema` what its header may say, `_serialize` turns
objects into facts and back, and `_states` keeps monitors and adaptive tests. Imports
`ratekeeper.control` and what is below it. Start with `_files`.
"""

from ratekeeper.storage._files import load, save

__all__ = ["load", "save"]
