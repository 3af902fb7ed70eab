"""Lists by cursor miss nothing and show nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from provider_adapters.testing.bank.kernel import accounts, paging, statement
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import open_books
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.kernel.statement import Entry
from tests.unit.provider_adapters.testing.bank.conftest import counting
from tests.world.tables import cases

ACCOUNT = {
    **dict.fromkeys(("name", "tax_number", "branch", "number", "city", "zip_code"), ""),
    "id": "cc_1",
    "payout_kind": PayoutKind.IDEM,
    "created_at": 0,
}


@pytest.mark.parametrize("limit", range(1, 8))
def test_page_by_page_is_everything_once(tmp_path, wall, limit):
    """Many items of one instant included: the row number breaks the tie."""
    books = open_books(str(tmp_path / "bank.db"), now=wall, random_hex=counting(), settle_after_s=0)
    accounts.add(books, Account(**ACCOUNT), "token")
    for at in (3, -1, 3, 3, 0, -1, 3):
        statement.write(books, Entry(account_id="cc_1", kind="fee", centavos=1, at=at))
    wanted, seen = Slice(limit=limit), []

    while True:
        page = statement.read(books, "cc_1", wanted)
        seen += [(line.at, line.seq) for line in page.items]
        if page.cursor is None:
            break
        wanted = replace(wanted, before=paging.read_slice({"cursor": page.cursor}).before)

    assert seen == [(3, 7), (3, 4), (3, 3), (3, 1), (0, 5), (-1, 6), (-1, 2)]
    assert page.total == 7
    books.database.close()


def test_nothing_asked_is_everything():
    wanted = paging.read_slice({})

    assert wanted == Slice()
    assert (wanted.limit, wanted.skip) == (100, 0)


def test_a_window_is_half_open_instants():
    wanted = paging.read_slice({"de": "1970-01-01T00:00:01Z", "ate": "1970-01-01T00:00:02Z"})

    assert (wanted.since, wanted.until) == (1_000_000, 2_000_000)


@cases(
    "query",
    [
        {"limite": "0"},
        {"limite": "501"},
        {"limite": "-1"},
        {"limite": "٣"},
        {"limite": ""},
        {"de": "today"},
        {"ate": "2026-11-20"},
        {"cursor": "5"},
        {"cursor": "é"},
        {"cursor": "1;2"},
    ],
)
def test_what_is_not_understood_is_refused(query):
    with pytest.raises(Refusal) as refused:
        paging.read_slice(query)

    assert refused.value.code == "INVALID_REQUEST"
