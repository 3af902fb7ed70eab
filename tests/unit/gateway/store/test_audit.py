"""The chain's arithmetic, which must be the same for years."""

import hashlib
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from gateway.domain.stores import AuditEvent
from gateway.store.audit import chained
from tests.contract.stores.samples import NOW, event

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


@pytest.mark.parametrize(
    "other",
    [
        replace(event(), at=NOW + timedelta(microseconds=1)),
        replace(event(), actor="other"),
        replace(event(), action="other"),
        replace(event(), subject="other"),
        replace(event(), trace_id="other"),
        event(other="x"),
    ],
    ids=["at", "actor", "action", "subject", "trace_id", "details"],
)
def test_every_field_is_in_the_hash(other: AuditEvent) -> None:
    assert chained(FIRST, 1, other) != chained(FIRST, 1, event())


def test_place_and_predecessor_are_in_the_hash() -> None:
    assert chained(FIRST, 2, event()) != chained(FIRST, 1, event())
    assert chained(b"\x01" * 32, 1, event()) != chained(FIRST, 1, event())


def test_neither_order_nor_zone_is_in_the_hash() -> None:
    brazil = replace(event(a="1", b="2"), at=NOW.astimezone(timezone(timedelta(hours=-3))))

    assert chained(FIRST, 1, brazil) == chained(FIRST, 1, event(b="2", a="1"))
