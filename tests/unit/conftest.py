"""What tests of single modules share: a clock that stands, and payouts on a real store."""

from tests.world.payout_fixtures import clock, payout_world, store_file

__all__ = ["clock", "payout_world", "store_file"]
