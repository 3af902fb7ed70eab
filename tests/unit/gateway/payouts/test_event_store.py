"""A row of an event; what both databases do with it is in the contract tests of stores."""

from __future__ import annotations

from gateway.payouts.event_store import event_row
from gateway.payouts.events import noticed
from gateway.store.tables.core import payout_events
from tests.world.stores.samples import NOW, payout


def test_a_row_has_every_column_but_its_number():
    row = event_row(noticed(payout(), "c1", NOW), None)

    assert set(row) == set(payout_events.c.keys()) - {"number"}


def test_a_row_without_a_key_has_no_facts():
    row = event_row(noticed(payout(), "CANARY", NOW), None)

    assert row["sealed_facts"] is None
    assert "CANARY" not in repr(row)
