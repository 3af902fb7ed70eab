"""Without a key nothing that was said is kept or shown."""

from __future__ import annotations

from gateway.store.kernel.facts import KEYLESS


def test_without_a_key_nothing_is_kept_or_shown():
    assert KEYLESS.seal(b"CANARY", "row") is None
    assert KEYLESS.open(b"CANARY", "row") is None
