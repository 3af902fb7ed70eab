"""The chain's arithmetic, which must be the same for years."""

import hashlib
import hmac
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from gateway.core.audit import AuditHead
from gateway.store.kernel.chain import ChainKeys, KeyAbsent, chained
from tests.world.stores.samples import NOW, event

FIRST = bytes(32)
DOCUMENT = (
    rb'{"action":"company.created","actor":"cli","at":"2026-11-20T12:30:15.123456+00:00",'
    rb'"details":{"a":"b","name":"S\u00e3o"},"number":1,"subject":"test:1","trace_id":"trace-1"}'
)


def test_a_hash_is_what_anybody_can_compute() -> None:
    """
    It is ``sha256sum`` of 32 zero bytes and the text in ``DOCUMENT``.

    A version that hashes otherwise calls every older log broken.
    """
    reached = chained(FIRST, 1, event("company.created", name="São", a="b"))

    assert reached.hex() == "d822277388f8a146a5f619df16b7f13c4fb37a20a00c66c60bba0e92f7d2f936"
    assert reached == hashlib.sha256(FIRST + DOCUMENT).digest()


def test_every_field_is_in_the_hash() -> None:
    cases = [
        replace(event(), at=NOW + timedelta(microseconds=1)),
        replace(event(), actor="other"),
        replace(event(), action="other"),
        replace(event(), subject="other"),
        replace(event(), trace_id="other"),
        event(other="x"),
    ]

    wrong = [other for other in cases if chained(FIRST, 1, other) == chained(FIRST, 1, event())]

    assert wrong == []


KEYS = ChainKeys({"k": b"e" * 32}, {"k": b"h" * 32})
SEALED = DOCUMENT.replace(b'"details"', b'"companies":["a","b"],"details"').replace(
    b'"number"', b'"key_id":"k","number"'
)


def test_a_seal_is_what_whoever_has_the_key_can_compute() -> None:
    """As above, with two fields more, and HMAC-SHA-256 instead of SHA-256."""
    made = replace(event("company.created", name="São", a="b"), companies=frozenset("ba"))

    assert KEYS.chained("k", FIRST, 1, made) == hmac.digest(b"e" * 32, FIRST + SEALED, "sha256")
    assert KEYS.chained("", FIRST, 1, made) == chained(FIRST, 1, made)


def test_a_head_is_sealed_by_another_key_than_events() -> None:
    head = AuditHead(7, FIRST, "k")
    content = b"pixgate audit head\0" + b"7\0k\0" + FIRST

    assert KEYS.seal(head) == hmac.digest(b"h" * 32, content, "sha256")
    assert KEYS.seal(AuditHead(7, FIRST)) == b""


@pytest.mark.parametrize(
    "other", [AuditHead(8, FIRST, "k"), AuditHead(7, b"\x01" * 32, "k")], ids=["number", "hash"]
)
def test_every_field_is_in_the_seal(other: AuditHead) -> None:
    assert KEYS.seal(other) != KEYS.seal(AuditHead(7, FIRST, "k"))


def test_a_key_that_is_not_here_is_named() -> None:
    with pytest.raises(KeyAbsent, match="other"):
        KEYS.chained("other", FIRST, 1, event())
    with pytest.raises(KeyAbsent, match="other"):
        KEYS.seal(AuditHead(1, FIRST, "other"))


def test_no_key_is_printed() -> None:
    assert "eee" not in repr(KEYS)
    assert "hhh" not in repr(KEYS)


def test_place_and_predecessor_are_in_the_hash() -> None:
    assert chained(FIRST, 2, event()) != chained(FIRST, 1, event())
    assert chained(b"\x01" * 32, 1, event()) != chained(FIRST, 1, event())


def test_neither_order_nor_zone_is_in_the_hash() -> None:
    brazil = replace(event(a="1", b="2"), at=NOW.astimezone(timezone(timedelta(hours=-3))))

    assert chained(FIRST, 1, brazil) == chained(FIRST, 1, event(b="2", a="1"))
