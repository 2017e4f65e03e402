"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# Folders have files of this one name, which hold fixtures and no examples.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# The eight properties of test_properties.py times 1,500 make 12,000 examples a run.
# By hand: HYPOTHESIS_PROFILE=long pytest tests/test_properties.py
settings.register_profile("ci", max_examples=1_500, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=50_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
