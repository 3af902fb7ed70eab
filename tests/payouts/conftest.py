"""A till, as the tests of single modules have it."""

from tests.world.payout_fixtures import clock, payout_world, store_file

__all__ = ["clock", "payout_world", "store_file"]
