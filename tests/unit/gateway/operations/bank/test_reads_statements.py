"""Statements: the whole window, what is Pix of it, newest first (contract 2.7)."""

from datetime import timedelta

import msgspec
import pytest

from gateway.domain.bank.charges import Party
from gateway.domain.bank.providers import BadReply, Page, Unavailable
from gateway.domain.bank.statements import Balance, Direction, Entry
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging, Search, Window
from gateway.operations.bank.reads import Statements
from tests.unit.people import caller
from tests.unit.refusals import refused
from tests.unit.standing import NOON, TODAY
from tests.world.payouts import OneBank, ScriptedBank

BALANCE = Balance(balance=Money(100), blocked=Money(1), updated_at=NOON)


def entry(number: int, *, is_pix: bool = True) -> Entry:
    """The movement of the minute ``number``."""
    return Entry(
        provider_id=str(number),
        e2e_id="",
        direction=Direction.CREDIT,
        is_pix=is_pix,
        value=Money(number),
        description="",
        counterparty=Party(),
        created_at=NOON + timedelta(minutes=number),
    )


def asking(page: int = 1, limit: int = 25) -> Search:
    return Search(Window(TODAY, TODAY), Paging(page, limit))


class Account:
    """Statements of a bank with these pages, and the names told of movements left out."""

    def __init__(self, *pages: list[Entry]) -> None:
        told = {
            str(number) if number else None: Page(
                items=items, next_cursor=str(number + 1) if number + 1 < len(pages) else None
            )
            for number, items in enumerate(pages)
        }
        self.bank = ScriptedBank(reads={"statement": told, "balance": BALANCE})
        self.left_out: list[str] = []
        self.statements = Statements(
            OneBank(self.bank), lambda _event, bank: self.left_out.append(bank)
        )

    async def shows(self, search: Search) -> list[str]:
        found = await self.statements.read(caller(), search)
        return [each.provider_id for each in found.entries]


async def test_all_pages_of_the_bank_are_one_list_newest_first():
    """Whatever order the bank keeps across its pages."""
    account = Account([entry(1), entry(5)], [entry(3)], [entry(4), entry(2)])

    found = await account.statements.read(caller(), asking())

    assert [each.provider_id for each in found.entries] == ["5", "4", "3", "2", "1"]
    assert (found.total, found.paging, found.balance) == (5, Paging(1, 25), BALANCE)


@pytest.mark.parametrize(
    ("page", "limit", "shown"),
    [(1, 2, ["5", "4"]), (2, 2, ["3", "2"]), (3, 2, ["1"]), (4, 2, []), (10**18 - 1, 100, [])],
)
async def test_a_page_is_cut_from_the_whole_and_the_total_stays(
    page: int, limit: int, shown: list[str]
):
    account = Account([entry(number) for number in range(1, 6)])

    found = await account.statements.read(caller(), asking(page, limit))

    assert [each.provider_id for each in found.entries] == shown
    assert found.total == 5


async def test_what_is_not_pix_is_left_out_and_counted():
    account = Account([entry(1), entry(2, is_pix=False)], [entry(3, is_pix=False), entry(4)])

    found = await account.statements.read(caller(), asking(1, 1))

    assert ([each.provider_id for each in found.entries], found.total) == (["4"], 2)
    assert account.left_out == ["sandbox", "sandbox"]


async def test_movements_of_one_instant_keep_the_bank_s_order():
    twin = msgspec.structs.replace(entry(1), provider_id="1b")
    account = Account([entry(1), twin, entry(2)])

    assert await account.shows(asking()) == ["2", "1", "1b"]


async def test_an_empty_window_is_an_empty_list_with_the_balance():
    found = await Account([]).statements.read(caller(), asking())

    assert (found.entries, found.total, found.balance) == ((), 0, BALANCE)


async def test_pages_that_never_end_are_a_bad_reply():
    """A bank whose cursor goes in a circle must not hold a request for ever."""
    account = Account([])
    circle = Page(items=[entry(1)], next_cursor="again")
    account.bank.reads["statement"] = dict.fromkeys([None, "again"], circle)

    with pytest.raises(BadReply):
        await account.shows(asking())


@pytest.mark.parametrize("part", ["balance", "statement"])
async def test_without_one_of_both_parts_there_is_no_statement(part: str):
    """The balance belongs to the answer: a statement without it would be half a truth."""
    account = Account([entry(1)])
    failure = Unavailable("timeout")
    account.bank.reads[part] = failure if part == "balance" else {None: failure}

    with pytest.raises(Unavailable):
        await account.shows(asking())


async def test_without_a_bank_there_is_none():
    statements = Statements(OneBank(ScriptedBank(), is_there=False), lambda _event, _bank: None)

    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await statements.read(caller(), asking())
