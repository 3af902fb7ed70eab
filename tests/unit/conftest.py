"""Shared by tests of single modules: a clock that stands still, and payouts on a real store."""

from tests.world.banks.authority import authority
from tests.world.payout_fixtures import clock, payout_world, store_file

__all__ = ["authority", "clock", "payout_world", "store_file"]
