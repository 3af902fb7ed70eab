"""Pages of API Pix: nothing twice, nothing lost, whatever comes in meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.apipix import documents, lists
from provider_adapters.apipix.documents import Pagina, Pix
from provider_adapters.apipix.lists import Limits, limits_of
from provider_adapters.testing.verify.stage import Received
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.apipix.lists import today

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_a_time_range_excludes_its_end():
    limits = Limits(NOON, NOON + timedelta(seconds=1))

    assert [limits.hold(limits.start), limits.hold(limits.end)] == [True, False]


def test_a_window_of_one_day_is_24_hours():
    day = NOON.date()

    assert limits_of(Window(day, day)).end - limits_of(Window(day, day)).start == timedelta(days=1)


async def test_money_received_while_paging_does_not_shift_the_pages(efi: Standing):
    """Later pages end at the time of the first page's request."""
    ids = [await efi.stage.put(efi.account, Received(value=Money(100 + n))) for n in range(5)]

    first = await efi.adapter.list_received(efi.account, today(), None, 2)
    late = await efi.stage.put(efi.account, Received(value=Money(900)))
    items, cursor = [*first.items], first.next_cursor
    while cursor is not None:
        page = await efi.adapter.list_received(efi.account, today(), cursor, 2)
        items, cursor = [*items, *page.items], page.next_cursor

    found = [each.e2e_id for each in items]
    assert len(found) == len(set(found))
    assert set(ids) <= set(found)
    assert late not in found


def test_a_page_may_lack_its_paging_or_its_list_but_not_both():
    def read(said: str) -> Pagina[Pix]:
        return documents.RECEBIDOS.decode(said)

    row = '{"endToEndId": "E1", "valor": "1", "horario": "2026-11-22T12:00:00Z"}'
    bare, full = read(f'{{"pix": [{row}]}}'), read(f'{{"pix": [{row}, {row}]}}')
    empty = read('{"parametros": {"paginacao": {"quantidadeDePaginas": 0}}}')

    assert [lists._pages(bare, 0, 2), lists._pages(full, 0, 2)] == [1, 2]
    assert (lists._rows(empty), lists._pages(empty, 0, 2)) == ((), 0)
    with pytest.raises(ValueError, match="wrong_shape"):
        lists._rows(read('{"erros": []}'))


async def test_a_future_day_is_empty_without_a_bank_call(efi: Standing):
    last = datetime.max.replace(tzinfo=UTC).date()

    page = await efi.adapter.list_received(efi.account, Window(last, last), None, 10)

    assert (list(page.items), page.next_cursor) == ([], None)
    assert efi.told.calls == []
