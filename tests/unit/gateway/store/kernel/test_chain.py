"""The chain's arithmetic, which must be the same for years."""

import hmac
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from gateway.core.audit import AuditEvent, AuditHead
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.chain import NO_KEYS, ChainKeys, KeyAbsent
from tests.world.stores.samples import NOW, event

FIRST = bytes(32)
KEYS = ChainKeys({"k": b"e" * 32}, {"k": b"h" * 32})
DOCUMENT = (
    rb'{"action":"company.created","actor":"cli","at":"2026-11-20T12:30:15.123456+00:00",'
    rb'"companies":["a","b"],"details":{"a":"b","name":"S\u00e3o"},"key_id":"k","number":1,'
    rb'"subject":"test:1","trace_id":"trace-1"}'
)


def linked(made: AuditEvent, number: int = 1, previous: bytes = FIRST) -> bytes:
    return KEYS.link("k", previous, number, made)


def test_a_chain_hash_is_the_documented_hmac() -> None:
    """
    HMAC-SHA-256 over 32 zero bytes and the text in ``DOCUMENT``.

    Another hash would make every older log invalid.
    """
    made = replace(event("company.created", name="São", a="b"), companies=frozenset("ba"))

    assert linked(made) == hmac.digest(b"e" * 32, FIRST + DOCUMENT, "sha256")


def test_the_hash_covers_every_field() -> None:
    cases = [
        replace(event(), at=NOW + timedelta(microseconds=1)),
        replace(event(), actor="other"),
        replace(event(), action="other"),
        replace(event(), subject="other"),
        replace(event(), trace_id="other"),
        replace(event(), companies=frozenset({"other"})),
        event(other="x"),
    ]

    assert [other for other in cases if linked(other) == linked(event())] == []


def test_a_head_is_sealed_with_a_separate_key() -> None:
    head = AuditHead(7, FIRST, "k")
    content = b"pixgate audit head\0" + b"7\0k\0" + FIRST

    assert KEYS.seal(head) == hmac.digest(b"h" * 32, content, "sha256")


@pytest.mark.parametrize(
    "other", [AuditHead(8, FIRST, "k"), AuditHead(7, b"\x01" * 32, "k")], ids=["number", "hash"]
)
def test_the_seal_covers_every_field(other: AuditHead) -> None:
    assert KEYS.seal(other) != KEYS.seal(AuditHead(7, FIRST, "k"))


def test_an_absent_key_is_named() -> None:
    with pytest.raises(KeyAbsent, match="other"):
        KEYS.link("other", FIRST, 1, event())
    with pytest.raises(KeyAbsent, match="other"):
        KEYS.seal(AuditHead(1, FIRST, "other"))


def test_without_keys_there_is_no_current_key() -> None:
    assert KEYS.current == "k"
    with pytest.raises(StoreUnavailable, match="without the keys of the audit log"):
        _ = NO_KEYS.current


def test_no_key_is_printed() -> None:
    assert "eee" not in repr(KEYS)
    assert "hhh" not in repr(KEYS)


def test_the_hash_covers_position_and_predecessor() -> None:
    assert linked(event(), 2) != linked(event(), 1)
    assert linked(event(), 1, b"\x01" * 32) != linked(event(), 1)


def test_a_hash_does_not_depend_on_field_order_or_time_zone() -> None:
    brazil = replace(event(a="1", b="2"), at=NOW.astimezone(timezone(timedelta(hours=-3))))

    assert linked(brazil) == linked(event(b="2", a="1"))
