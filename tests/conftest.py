"""Settings for the whole suite."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every machine and run, and no wall-clock deadline: a slow machine is no bug.
settings.register_profile("quandary", deadline=None, derandomize=True)
settings.load_profile("quandary")
