"""Settings that all tests share."""

from __future__ import annotations

import os

# Two processes run tests. The threads that BLAS starts in each, one per core, would mostly wait for
# those of the other, at full load. Set before numpy is loaded; the processes of tests inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

# Folders have files of this one name, which hold fixtures and no examples.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# Examples per property of test_properties.py. The default is that of .ci/run; .ci/fast takes fewer.
# By hand: HYPOTHESIS_PROFILE=long pytest tests/test_properties.py
settings.register_profile("fast", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("ci", max_examples=1_500, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=50_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
