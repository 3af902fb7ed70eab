"""A till, as the tests of single modules have it."""

from tests.unit.conftest import clock, payout_world, store_file

__all__ = ["clock", "payout_world", "store_file"]
