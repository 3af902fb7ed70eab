"""Instants without loss on both databases; references of any length as keys."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as some
from sqlalchemy import Dialect
from sqlalchemy.dialects import postgresql, sqlite

from gateway.store.tables.columns import (
    Instant,
    read,
    reference_digest,
    written,
    written_in_ascii,
)

SQLITE, POSTGRES = sqlite.dialect(), postgresql.dialect()
INSTANTS = some.datetimes(timezones=some.just(UTC))


@given(INSTANTS)
def test_sqlite_keeps_every_microsecond(instant: datetime) -> None:
    kept = Instant().bind_processor(SQLITE)(instant)

    assert isinstance(kept, int)
    assert Instant().result_processor(SQLITE, None)(kept) == instant


@given(INSTANTS, INSTANTS)
def test_sqlite_sorts_instants_correctly(one: datetime, other: datetime) -> None:
    """Also before 1970."""
    kept = [Instant().bind_processor(SQLITE)(each) for each in (one, other)]

    assert (kept[0] < kept[1]) == (one < other)


def test_an_instant_is_stored_in_utc() -> None:
    brazil = datetime(2026, 11, 20, 9, tzinfo=timezone(timedelta(hours=-3)))

    kept = Instant().bind_processor(POSTGRES)(brazil)

    assert isinstance(kept, datetime)
    assert kept == brazil
    assert kept.tzinfo is UTC


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=["sqlite", "postgres"])
def test_a_time_without_a_zone_is_refused(dialect: Dialect) -> None:
    naive = datetime(2026, 11, 20)  # noqa: DTZ001 - what is refused

    with pytest.raises(ValueError, match="has a zone"):
        Instant().bind_processor(dialect)(naive)


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=["sqlite", "postgres"])
def test_a_missing_instant_stays_none(dialect: Dialect) -> None:
    assert Instant().bind_processor(dialect)(None) is None
    assert Instant().result_processor(dialect, None)(None) is None


def test_a_reference_digest_is_the_sha_256_of_its_utf_8() -> None:
    """So operators can find a payout by ``sha256('order-1042')`` in PostgreSQL."""
    digest = reference_digest("order-1042")

    assert digest.hex() == "bff83cdfb94d8087b6fd49cb20c427dc6013ae2cf509ee61c91fec60cd84d9e9"


@given(some.dictionaries(some.text(max_size=20), some.text(max_size=20), max_size=5))
def test_a_text_mapping_round_trips(texts: dict[str, str]) -> None:
    assert read(written(texts)) == texts


def test_a_text_mapping_is_written_without_escapes() -> None:
    assert written({"name": "São"}) == '{"name":"São"}'


TEXTS = some.text(some.characters(), max_size=20)


@given(some.dictionaries(TEXTS, TEXTS, max_size=5))
def test_a_text_mapping_is_written_in_its_stable_form(texts: dict[str, str]) -> None:
    """Payouts to one recipient are found by an equal text, lone surrogates included."""
    assert written(texts) == json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


@given(
    some.dictionaries(TEXTS, TEXTS | some.integers() | some.booleans() | some.none(), max_size=5)
)
def test_any_document_can_be_written_in_ascii(document: dict[str, object]) -> None:
    kept = written_in_ascii(document)

    assert kept.isascii()
    assert "\0" not in kept
    assert json.loads(kept) == document
