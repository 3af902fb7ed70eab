"""The key of payouts' events."""

from __future__ import annotations

from gateway.payouts.event_sealing import EventSealing
from gateway.security.keys import Derivation

OLD = {"k1": b"1" * 32}
BOTH = {"k1": b"1" * 32, "k2": b"2" * 32}


def test_what_was_said_is_sealed_for_its_row():
    sealing = EventSealing(Derivation(OLD, "k1"))
    sealed = sealing.seal(b"CANARY", "row")

    assert sealed is not None
    assert b"CANARY" not in sealed
    assert sealing.open(sealed, "row") == b"CANARY"
    assert sealing.open(sealed, "another") is None


def test_a_retired_key_opens_what_it_sealed_while_it_is_kept():
    sealed = EventSealing(Derivation(OLD, "k1")).seal(b"x", "row")
    assert sealed is not None

    assert EventSealing(Derivation(BOTH, "k2")).open(sealed, "row") == b"x"
    assert EventSealing(Derivation({"k2": b"2" * 32}, "k2")).open(sealed, "row") is None
