"""Days, pages and halves of Inter's statement."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest

from gateway.banks.port.charges import Party
from gateway.banks.port.providers import BadReply, Page
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.windows import Window
from provider_adapters.apipix.inter import statement
from provider_adapters.apipix.inter.documents import EXTRATO
from provider_adapters.apipix.inter.statement import Span
from tests.world.tables import cases

E2E = "E00416968202206201436ghzKRVgnb7A"
YEAR = Window(date(2026, 1, 1), date(2026, 3, 31))
FIRST, LAST = date(2025, 12, 31), date(2026, 3, 31)
ROW: dict[str, Any] = {
    "idTransacao": "1",
    "dataTransacao": "2026-02-03",
    "tipoTransacao": "PIX",
    "tipoOperacao": "D",
    "valor": "10.5",
    "descricao": "nota",
    "detalhes": {
        "endToEndId": E2E,
        "nomePagador": "Loja",
        "nomeRecebedor": "Maria",
        "cpfCnpjRecebedor": "***.982.247-**",
    },
}


def read(
    span: Span,
    *rows: dict[str, Any],
    pages: int = 1,
    total: int = 1,
    counted: list[bool] | None = None,
) -> Page[Entry] | Span:
    seen: list[bool] = [] if counted is None else counted
    document = {"totalPaginas": pages, "totalElementos": total, "transacoes": list(rows)}
    shape = statement.reader(span, YEAR, lambda: seen.append(True))
    return shape(EXTRATO.decode(msgspec.json.encode(document)))


def entry(counted: list[bool] | None = None, **changed: object) -> Entry:
    page = read(Span(FIRST, LAST), {**ROW, **changed}, counted=counted)
    assert isinstance(page, Page)
    return page.items[0]


def test_a_time_zone_in_the_bank_s_time_is_respected():
    """Near midnight it changes the day."""
    days = ("2026-02-03T01:30:00Z", "2026-02-03 01:30:00", "2026-02-03T23:30:00-05:00")

    found = [entry(dataTransacao=each).created_at for each in days]

    assert [each.day for each in found] == [2, 3, 4]


def test_a_window_of_utc_days_includes_the_previous_bank_day():
    assert statement.begun(Window(LAST, LAST), None) == Span(date(2026, 3, 30), LAST)


def test_a_window_is_split_into_periods_of_ninety_days():
    """A window of 90 UTC days touches 91 of the bank's."""
    begun = statement.begun(YEAR, None)

    assert (begun.until - begun.since).days == 89
    page = read(begun, ROW)
    assert isinstance(page, Page)
    rest = statement.begun(YEAR, page.next_cursor)
    assert rest == Span(FIRST, FIRST)
    last = read(rest, ROW)
    assert isinstance(last, Page)
    assert last.next_cursor is None


def test_the_pages_of_a_period_are_followed_by_the_period_before():
    first = read(Span(date(2026, 3, 1), LAST), pages=2)
    assert isinstance(first, Page)
    second = statement.begun(YEAR, f"{first.next_cursor} marks")
    assert second == Span(date(2026, 3, 1), LAST, 1)
    following = read(second, pages=2)
    assert isinstance(following, Page)
    assert statement.begun(YEAR, following.next_cursor).until == date(2026, 2, 28)


def test_a_period_with_too_many_rows_is_halved_without_losing_a_day():
    """Rows that no page reaches would be missing silently."""
    asked, seen = [statement.begun(YEAR, None)], set[date]()
    while asked:
        span = asked.pop()
        days = [
            date.fromordinal(each)
            for each in range(span.since.toordinal(), span.until.toordinal() + 1)
        ]
        found = read(span, ROW, total=1_000 * len(days))
        if isinstance(found, Span):
            assert found.until == span.until
            asked.append(found)
            continue
        assert len(days) <= 10
        assert not seen & set(days)
        seen |= set(days)
        if found.next_cursor:
            asked.append(statement.begun(YEAR, found.next_cursor))

    assert (min(seen), max(seen), len(seen)) == (FIRST, LAST, 91)


def test_a_day_with_too_many_rows_is_a_bad_reply():
    with pytest.raises(BadReply, match="too_large"):
        read(Span(LAST, LAST), ROW, total=10_001)
    assert isinstance(read(Span(LAST, LAST), ROW, total=10_000), Page)


def test_a_payment_is_read_with_its_recipient_and_day():
    assert entry() == Entry(
        provider_id="1",
        e2e_id=E2E,
        direction=Direction.DEBIT,
        is_pix=True,
        value=entry().value,
        description="nota",
        counterparty=Party(name="Maria", tax_number="***.982.247-**"),
        created_at=datetime(2026, 2, 3, 3, tzinfo=UTC),
        kind=MovementKind.PIX,
    )
    assert entry().value.centavos == 1050


@cases("beside", [{}, {"endToEndId": None}, {"txId": "x", "tipoDetalhe": {"a": 1}}])
def test_pix_details_may_be_in_a_nested_object(beside: dict[str, object]):
    assert entry(detalhes={**beside, "pix": ROW["detalhes"]}) == entry()
    assert entry(detalhes={**ROW["detalhes"], "pix": None}) == entry()


def test_the_counterparty_of_incoming_money_is_the_payer():
    assert entry(tipoOperacao="C").counterparty.name == "Loja"


def test_a_return_is_recognized_by_its_id():
    details = {"endToEndId": f"D{E2E[1:]}"}

    assert entry(detalhes=details).kind is MovementKind.PIX_RETURN


def test_an_unlisted_kind_is_not_pix_and_is_counted():
    counted: list[bool] = []

    found = entry(counted, tipoTransacao="CRIPTO", detalhes=None)

    assert (found.is_pix, found.kind, counted) == (False, MovementKind.OTHER, [True])


@cases(
    "wrong",
    [{"tipoOperacao": "X"}, {"valor": "-1.00"}, {"valor": "1.005"}, {"dataTransacao": "ontem"}],
)
def test_an_inconsistent_movement_is_refused(wrong: dict[str, str]):
    with pytest.raises(ValueError, match=r"\w"):
        entry(**wrong)
