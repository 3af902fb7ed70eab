"""
How much a test does, and with which seed.

``make test`` and ``.ci/run`` do a fixed part with a fixed seed, ``make proofs`` all of it.
``make test-random`` takes fresh seeds and the day's part.
"""

from __future__ import annotations

import os

WHOLE = os.environ.get("TEST_EXTENT") == "whole"
"""Every case, at full size."""

DAY = int(os.environ.get("TEST_DAY", "0"))
"""Chooses a part of a table that is too long for one run; days since the epoch, or 0."""

SEED = int(os.environ.get("TEST_SEED", "20261126"))
"""The seed of campaigns and of whatever else a test draws."""
