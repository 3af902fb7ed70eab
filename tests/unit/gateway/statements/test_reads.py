"""Statements: the whole window, what is Pix of it, newest first (contract 2.7), walked once."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import msgspec
import pytest

from gateway.banks.port.charges import Party
from gateway.banks.port.providers import BadReply, Bank, Page, ProviderAccount, Unavailable
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.money import Money
from gateway.core.windows import Paging, Search, Window
from gateway.process.cache import MemoryCache
from gateway.statements.reads import StatementReads
from gateway.statements.snapshots import Snapshots, snapshot_key
from gateway.telemetry.ports import Event
from tests.world.leaping import leaping
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account as account_
from tests.world.standing import NOON, TODAY
from tests.world.waiting import settle

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


@dataclass
class WalkedBank(ScriptedBank):
    """
    A bank that counts walks: what was asked for without a cursor; its ``gate`` holds them.

    Attributes:
        sizes: The size of every page that was asked for.
    """

    walks: int = 0
    sizes: list[int] = field(default_factory=list)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        self.walks += cursor is None
        self.sizes.append(limit)
        await self.gate.wait()
        return await super().list_statement(account, window, cursor, limit)


class Account:
    def __init__(self, *pages: list[Entry], keep_s: float = 60, most_bytes: int = 2**20) -> None:
        self.bank = WalkedBank(reads={"balance": BALANCE})
        self.holds(*pages)
        self.counted: Counter[tuple[str, str]] = Counter()
        self.cache = MemoryCache(most_bytes)
        self.statements = StatementReads(
            OneBank(self.bank),
            lambda event, label: self.counted.update([(event, label)]),
            Snapshots(cache=self.cache, keep_s=keep_s, most_bytes=most_bytes),
        )

    def holds(self, *pages: list[Entry]) -> None:
        self.bank.reads["statement"] = {
            str(number) if number else None: Page(
                items=items, next_cursor=str(number + 1) if number + 1 < len(pages) else None
            )
            for number, items in enumerate(pages)
        }

    async def shows(self, search: Search) -> list[str]:
        found = await self.statements.read(account_(), search)
        return [each.provider_id for each in found.entries]


async def test_all_bank_pages_form_one_list_newest_first():
    """Whatever order the bank uses across its pages."""
    account = Account([entry(1), entry(5)], [entry(3)], [entry(4), entry(2)])

    found = await account.statements.read(account_(), asking())

    assert [each.provider_id for each in found.entries] == ["5", "4", "3", "2", "1"]
    assert (found.total, found.paging, found.balance) == (5, Paging(1, 25), BALANCE)


@pytest.mark.parametrize(
    ("page", "limit", "shown"),
    [(1, 2, ["5", "4"]), (2, 2, ["3", "2"]), (3, 2, ["1"]), (4, 2, []), (10**18 - 1, 100, [])],
)
async def test_a_page_is_cut_from_the_whole_list_with_the_same_total(
    page: int, limit: int, shown: list[str]
):
    account = Account([entry(number) for number in range(1, 6)])

    found = await account.statements.read(account_(), asking(page, limit))

    assert [each.provider_id for each in found.entries] == shown
    assert found.total == 5


async def test_movements_that_are_not_pix_are_left_out_and_counted():
    account = Account([entry(1), entry(2, is_pix=False)], [entry(3, is_pix=False), entry(4)])

    found = await account.statements.read(account_(), asking(1, 1))

    assert ([each.provider_id for each in found.entries], found.total) == (["4"], 2)
    assert account.counted[Event.NOT_PIX, "sandbox"] == 2


async def test_movements_at_the_same_instant_keep_the_bank_s_order():
    twin = msgspec.structs.replace(entry(1), provider_id="1b")
    account = Account([entry(1), twin, entry(2)])

    assert await account.shows(asking()) == ["2", "1", "1b"]


async def test_an_empty_window_is_an_empty_list_with_the_balance():
    found = await Account([]).statements.read(account_(), asking())

    assert (found.entries, found.total, found.balance) == ((), 0, BALANCE)


async def test_endless_bank_pages_are_a_bad_reply():
    """A bank with a circular cursor must not hold a request for ever."""
    account = Account([])
    circle = Page(items=[entry(1)], next_cursor="again")
    account.bank.reads["statement"] = dict.fromkeys([None, "again"], circle)

    with pytest.raises(BadReply):
        await account.shows(asking())


@pytest.mark.parametrize("part", ["balance", "statement"])
async def test_a_statement_needs_both_balance_and_movements(part: str):
    """The balance is part of the answer."""
    account = Account([entry(1)])
    failure = Unavailable("timeout")
    account.bank.reads[part] = failure if part == "balance" else {None: failure}

    with pytest.raises(Unavailable):
        await account.shows(asking())


def entries(count: int, first: int = 1) -> list[Entry]:
    return [entry(number) for number in range(first, first + count)]


async def test_extra_bank_pages_are_charged_to_the_caller_that_started_the_walk():
    """Neither the first page, nor callers that share the walk, nor pages from a snapshot."""
    account = Account(entries(10), entries(10, 11), entries(10, 21))
    charged: list[str] = []

    async def read(name: str, page: int = 1) -> None:
        await account.statements.read(account_(), asking(page, 10), lambda: charged.append(name))

    account.bank.gate.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(read("first"))
        group.create_task(read("follower"))
        await settle()
        account.bank.gate.set()
    await read("later", 2)

    assert charged == ["first", "first"]
    assert account.bank.walks == 1


@pytest.mark.parametrize("limit", [1, 7, 25, 99, 100])
async def test_a_page_from_a_snapshot_equals_one_from_a_walk(limit: int):
    """Pages cross the parts in which a snapshot is stored."""
    kept, walked = Account(entries(350)), Account(entries(350), keep_s=0)
    await kept.shows(asking(1, limit))

    for page in range(2, 350 // limit + 3):
        assert await kept.shows(asking(page, limit)) == await walked.shows(asking(page, limit))
    assert kept.bank.walks == 1


async def test_a_snapshot_preserves_every_field_of_an_entry():
    whole = msgspec.structs.replace(
        entry(1),
        e2e_id="E1",
        description="pão 🥖",
        counterparty=Party(name="Maria", tax_number="52998224725"),
        provider_key="k",
        kind=MovementKind.PIX_RETURN,
    )
    account = Account([entry(2), whole])
    await account.shows(asking(1, 1))

    second = await account.statements.read(account_(), asking(2, 1))

    assert second.entries == (whole,)
    assert account.bank.walks == 1


async def test_the_first_page_always_walks_and_replaces_the_snapshot():
    account = Account(entries(30))
    await account.shows(asking(1, 10))
    account.holds(entries(40))

    before = await account.statements.read(account_(), asking(2, 10))
    first = await account.statements.read(account_(), asking(1, 10))
    after = await account.statements.read(account_(), asking(2, 10))

    assert (before.total, first.total, after.total) == (30, 40, 40)
    assert after.entries[0].provider_id == "30"


@leaping
async def test_a_snapshot_is_used_until_its_lifetime_ends():
    account = Account(entries(30))
    await account.shows(asking(1, 10))
    account.holds(entries(40))
    await asyncio.sleep(59.9)
    kept = await account.statements.read(account_(), asking(2, 10))
    await asyncio.sleep(0.1)

    anew = await account.statements.read(account_(), asking(2, 10))

    assert (kept.total, anew.total) == (30, 40)


async def test_pages_after_an_expired_snapshot_share_a_new_one():
    """A slow reader pays for one walk a minute, not one a page."""
    account = Account(entries(30))
    await account.shows(asking(2, 10))

    await account.shows(asking(3, 10))

    assert account.bank.walks == 1


async def test_the_balance_is_live_on_every_page():
    account = Account(entries(30))
    await account.shows(asking(1, 10))
    now = Balance(balance=Money(7), blocked=Money(0), updated_at=None)
    account.bank.reads["balance"] = now

    assert (await account.statements.read(account_(), asking(2, 10))).balance == now


async def test_concurrent_callers_share_one_walk():
    account = Account(entries(30))
    account.bank.gate.clear()
    asked = [asyncio.create_task(account.shows(asking(page, 10))) for page in (1, 1, 2, 3, 9)]
    await settle()

    account.bank.gate.set()
    shown = await asyncio.gather(*asked)

    assert [len(each) for each in shown] == [10, 10, 10, 10, 0]
    assert account.bank.walks == 1


async def test_a_cancelled_caller_does_not_cancel_the_walk_for_others():
    account = Account(entries(30))
    account.bank.gate.clear()
    leaving = asyncio.create_task(account.shows(asking(1, 10)))
    await settle()
    staying = asyncio.create_task(account.shows(asking(1, 10)))
    await settle()

    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    account.bank.gate.set()

    assert len(await staying) == 10
    assert account.bank.walks == 1


async def test_an_interrupted_walk_keeps_the_older_snapshot():
    """The bank fails after its first page: the kept snapshot is unchanged."""
    account = Account(entries(20), entries(20, 21))
    await account.shows(asking(1, 10))
    account.holds(entries(50), entries(50, 51))
    account.bank.reads["statement"]["1"] = Unavailable("connection_lost")

    with pytest.raises(Unavailable):
        await account.shows(asking(1, 10))

    kept = await account.statements.read(account_(), asking(2, 10))
    assert (kept.total, kept.entries[0].provider_id) == (40, "30")


async def test_an_interrupted_walk_leaves_no_partial_snapshot():
    account = Account(entries(20), entries(20, 21))
    account.bank.reads["statement"]["1"] = Unavailable("connection_lost")

    for page in (1, 2):
        with pytest.raises(Unavailable):
            await account.shows(asking(page, 10))


async def test_an_oversized_window_is_walked_for_each_page_and_counted():
    """Size alone is no failure, but an older, smaller snapshot must not be shown."""
    account = Account(entries(20), most_bytes=10_000)
    await account.shows(asking(1, 10))
    account.holds(entries(2_000))

    first = await account.statements.read(account_(), asking(1, 10))
    last = await account.statements.read(account_(), asking(200, 10))

    assert (first.total, last.total, len(last.entries)) == (2_000, 2_000, 10)
    assert account.bank.walks == 3
    assert account.counted[Event.STATEMENT_TOO_LARGE, "sandbox"] == 2


@pytest.fixture
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a hundred movements are held: a real window of so many would take seconds."""
    monkeypatch.setattr("gateway.statements.reads.MOST_ITEMS", 100)


@pytest.mark.usefixtures("few_in_memory")
async def test_pages_beyond_the_memory_limit_are_shown_with_the_total_and_counted():
    """Before, across and after the kept part, and after the last page."""
    account = Account(*(list(reversed(entries(40, first))) for first in (201, 161, 121, 81, 41, 1)))

    pages = {
        page: await account.statements.read(account_(), asking(page, 15))
        for page in (1, 2, 6, 7, 8, 16, 17)
    }

    for page, found in pages.items():
        newest = 240 - 15 * (page - 1)
        wanted = [str(number) for number in range(newest, max(newest - 15, 0), -1)]
        assert ([each.provider_id for each in found.entries], found.total) == (wanted, 240)
    assert account.counted[Event.STATEMENT_TOO_LARGE, "sandbox"] == 7
    assert account.bank.walks == 7 + 3


@pytest.mark.usefixtures("few_in_memory")
async def test_a_window_larger_than_memory_drops_the_snapshot():
    account = Account(entries(30))
    await account.shows(asking(1, 10))
    account.holds(list(reversed(entries(150))))
    await account.shows(asking(1, 10))

    assert (await account.statements.read(account_(), asking(2, 10))).total == 150
    assert await account.cache.size() == 0


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("page", [1, 12])
async def test_an_unordered_list_beyond_the_memory_limit_is_a_bad_reply(page: int):
    """Newer movements would be left out of every page."""
    account = Account(entries(150))

    with pytest.raises(BadReply, match="not_newest_first"):
        await account.shows(asking(page, 10))


@pytest.mark.usefixtures("few_in_memory")
async def test_a_complete_window_is_refused_rather_than_truncated():
    account = Account(list(reversed(entries(101))))

    with pytest.raises(BadReply, match="too_many_items"):
        await account.statements.window(account_(), asking().window, fresh=True)


async def test_a_window_of_one_page_drops_the_snapshot():
    account = Account(entries(30))
    await account.shows(asking(1, 10))
    account.holds(entries(10))
    await account.shows(asking(1, 10))

    second = await account.statements.read(account_(), asking(2, 10))

    assert (second.total, account.bank.walks) == (10, 3)
    assert await account.cache.size() == 0


async def test_without_snapshots_every_page_is_walked():
    account = Account(entries(30), keep_s=0)

    shown = [await account.shows(asking(page, 10)) for page in (1, 2, 3)]

    assert (shown[2][-1], account.bank.walks) == ("1", 3)
    assert account.counted[Event.STATEMENT_TOO_LARGE, "sandbox"] == 0


async def test_pages_are_requested_in_the_bank_s_largest_size():
    account = Account(entries(30), entries(5, 31))
    account.bank.capabilities = replace(account.bank.capabilities, largest_page=37)

    await account.shows(asking())

    assert account.bank.sizes == [37, 37]


def bank(**changed: str) -> Bank:
    at = {"account_id": "a", "provider_account": "p", **changed}
    return Bank(
        name=at.pop("name", "one"),
        adapter=ScriptedBank(),
        account=ProviderAccount(**at),
        read_only=False,
    )


OTHERS: Sequence[tuple[Bank, Window]] = (
    (bank(account_id="b"), Window(TODAY, TODAY)),
    (bank(provider_account="q"), Window(TODAY, TODAY)),
    (bank(name="two"), Window(TODAY, TODAY)),
    (bank(account_id="a\0one", name="", provider_account="p"), Window(TODAY, TODAY)),
    (bank(), Window(TODAY - timedelta(days=1), TODAY)),
    (bank(), Window(TODAY - timedelta(days=1), TODAY - timedelta(days=1))),
)


@pytest.mark.parametrize(("other", "window"), OTHERS)
def test_a_snapshot_belongs_to_one_account_bank_and_window(other: Bank, window: Window):
    assert snapshot_key(other, window) != snapshot_key(bank(), Window(TODAY, TODAY))


def test_a_change_of_credentials_keeps_the_snapshot():
    assert snapshot_key(bank(credentials="new"), Window(TODAY, TODAY)) == snapshot_key(
        bank(), Window(TODAY, TODAY)
    )
