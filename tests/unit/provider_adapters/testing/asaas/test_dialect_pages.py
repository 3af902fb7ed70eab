"""The simulated bank's pages: days and times of Sao Paulo, cut by position."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from provider_adapters.testing.asaas import dialect
from provider_adapters.testing.bank.kernel.clock import to_micros
from provider_adapters.testing.bank.kernel.refusals import Refusal
from tests.world.tables import cases

LATE = to_micros(datetime(2026, 11, 23, 1, 30, 5, tzinfo=UTC))


def test_an_instant_is_that_of_sao_paulo():
    assert dialect.moment(LATE) == "2026-11-22 22:30:05"


@cases("centavos", [1, 10, 1050, 999_999_999_999_999, -10])
def test_an_amount_is_exact_in_json(centavos: int):
    assert round(dialect.reais(centavos) * 100) == centavos
    assert len(repr(dialect.reais(centavos)).partition(".")[2]) <= 2


def test_both_days_are_inside():
    wanted = dialect.read_slice(
        {"a": "2026-11-22", "b": "2026-11-22", "offset": "20", "limit": "100"}, "a", "b"
    )

    assert (wanted.skip, wanted.limit) == (20, 100)
    assert wanted.since <= LATE < wanted.until
    assert wanted.until - wanted.since == 86_400_000_000


@cases(
    "query", [{"limit": "0"}, {"limit": "101"}, {"limit": "-1"}, {"offset": "x"}, {"a": "22/11"}]
)
def test_a_query_that_is_none_is_refused(query: dict[str, str]):
    with pytest.raises(Refusal):
        dialect.read_slice(query, "a", "b")


def test_a_page_says_whether_there_is_more():
    rows = [{"n": number} for number in range(3)]

    first = dialect.cut(rows, dialect.read_slice({"limit": "2"}))
    last = dialect.cut(rows, dialect.read_slice({"limit": "2", "offset": "2"}))

    assert (first["data"], first["hasMore"]) == (rows[:2], True)
    assert (last["data"], last["hasMore"], last["totalCount"]) == (rows[2:], False, 3)
