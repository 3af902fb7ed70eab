"""Whether a person exists shows in nothing."""

from __future__ import annotations
