"""Fixtures of identity."""

from tests.unit.identity_fixtures import door, hall, maria

__all__ = ["door", "hall", "maria"]
