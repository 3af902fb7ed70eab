"""Evidence in the statement: our key or the end-to-end id, and the amount; nothing less."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from gateway.banks.port.capabilities import EntryField
from gateway.banks.port.providers import Bank, Page, Phase, ProviderAccount, Unavailable
from gateway.banks.port.statements import Direction, Entry
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.payouts.matching import Asking, StatementSearch
from gateway.payouts.model import Payout
from tests.world.leaping import leaping
from tests.world.movements import movement
from tests.world.payouts import VALUE, PayoutWorld, ScriptedBank
from tests.world.standing import NOON, Clock

PAYOUT = replace(PayoutWorld(None, ScriptedBank(), Clock())._payout(), e2e_id="E7")  # type: ignore[arg-type]
KEY = PAYOUT.provider_key


@dataclass
class Telling(ScriptedBank):
    """A bank with a statement of pages; it keeps what it was asked for."""

    pages: list[list[Entry]] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)

    async def list_statement(  # type: ignore[override]
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        self.windows.append(window)
        number = int(cursor or 0)
        following = number + 1
        more = str(following) if following < len(self.pages) else None
        return Page(items=self.pages[number], next_cursor=more)


async def found(bank: Telling, payout: Payout = PAYOUT, now: datetime = NOON):  # type: ignore[no-untyped-def]
    search = searching(bank, payout)
    await search.walk(now, Asking(within_s=8.0))
    return search.found.get(payout.provider_key)


def searching(bank: Telling, *payouts: Payout) -> StatementSearch:
    account = ProviderAccount(account_id="a", provider_account="b")
    return StatementSearch(payouts, Bank("sandbox", bank, account, False))


@pytest.mark.parametrize(
    ("entry", "proves"),
    [
        ({"provider_key": KEY, "e2e_id": ""}, True),
        ({"e2e_id": "E7"}, True),
        ({"provider_key": KEY, "e2e_id": "E8"}, True),
        ({"e2e_id": "E8"}, False),
        ({"e2e_id": ""}, False),
        ({"provider_key": "0" * 32, "e2e_id": ""}, False),
        ({"provider_key": KEY, "value": Money(1049)}, False),
        ({"provider_key": KEY, "direction": Direction.CREDIT}, False),
    ],
    ids=[
        "key",
        "e2e",
        "key alone counts",
        "other e2e",
        "amount",
        "other key",
        "other amount",
        "in",
    ],
)
async def test_each_movement_proves_the_payout_or_not(entry: dict[str, object], proves: bool):
    seen = await found(Telling(pages=[[movement(**entry)]]))

    assert (seen is not None) is proves


async def test_two_absent_end_to_end_ids_do_not_match():
    """Both are missing, so they do not match."""
    bank = Telling(pages=[[movement(e2e_id="")]])

    assert await found(bank, replace(PAYOUT, e2e_id="")) is None


async def test_a_matching_movement_is_returned_as_the_settlement():
    seen = await found(Telling(pages=[[movement(provider_key=KEY)]]))

    assert seen is not None
    assert (seen.value, seen.e2e_id, seen.provider_id, seen.settled_at) == (
        VALUE,
        "E7",
        "trf_7",
        NOON,
    )
    assert (seen.evidence.phase, seen.evidence.reason) == (Phase.ANSWERED, "statement")


async def test_pages_are_read_until_the_payout_is_found():
    bank = Telling(pages=[[movement(e2e_id="E1")], [], [movement()], [movement()]])

    assert await found(bank) is not None
    assert len(bank.windows) == 3


async def test_movements_older_than_the_payout_end_the_search():
    """Movements are newest first: older ones, allowing for clocks, end the search."""
    old = movement(e2e_id="E1", created_at=NOON - timedelta(hours=1, seconds=1))
    bank = Telling(pages=[[movement(e2e_id="E1")], [old], [movement()]])

    assert await found(bank) is None
    assert len(bank.windows) == 2


async def test_an_endless_statement_is_read_up_to_fifty_pages():
    bank = Telling(pages=[[]] * 1000)

    assert await found(bank) is None
    assert len(bank.windows) == 50


@pytest.mark.parametrize(
    ("now", "days"),
    [
        (NOON, 1),
        (NOON + timedelta(days=1), 2),
        (NOON + timedelta(days=400), 90),
        (NOON - timedelta(days=1), 1),
    ],
    ids=["today", "tomorrow", "long ago", "clock set back"],
)
async def test_the_statement_window_reaches_from_the_payout_to_now(now: datetime, days: int):
    bank = Telling(pages=[[]])

    await found(bank, now=now)

    [window] = bank.windows
    assert (window.end - window.start).days == days


async def test_the_window_of_a_payout_just_after_midnight_includes_the_day_before():
    early = NOON.replace(hour=0, minute=5)
    bank = Telling(pages=[[]])

    await found(bank, replace(PAYOUT, created_at=early), early)

    assert bank.windows[0].init == early.date() - timedelta(days=1)


async def test_a_statement_that_cannot_be_read_raises():
    class Silent(Telling):
        async def list_statement(self, *_arguments: object) -> Page[Entry]:  # type: ignore[override]
            reason = "down"
            raise Unavailable(reason)

    with pytest.raises(Unavailable):
        await found(Silent())


LOST = replace(PAYOUT, provider_key="1" * 32, e2e_id="", created_at=NOON - timedelta(hours=20))


@dataclass
class Slow(Telling):
    """A bank that takes its time for each page; at ``fails`` pages it breaks."""

    takes_s: float = 3.0
    fails: int = 1000

    async def list_statement(self, *asked: object) -> Page[Entry]:  # type: ignore[override]
        await asyncio.sleep(self.takes_s)
        if len(self.windows) == self.fails:
            reason = "down"
            raise Unavailable(reason)
        return await super().list_statement(*asked)  # type: ignore[arg-type]


@leaping
async def test_movements_read_before_the_deadline_are_found():
    """A payout missing in the statement makes the search long; the others are proven by then."""
    bank = Slow(pages=[[movement(e2e_id="E1")], [movement(provider_key=KEY)], *[[]] * 50])
    search = searching(bank, PAYOUT, LOST)

    with pytest.raises(TimeoutError):
        await search.walk(NOON, Asking(within_s=8.0))

    assert (set(search.found), len(bank.windows)) == ({KEY}, 2)


@leaping
async def test_movements_read_before_a_failed_page_are_found():
    bank = Slow(pages=[[movement(provider_key=KEY)], *[[]] * 50], fails=1)
    search = searching(bank, PAYOUT, LOST)

    with pytest.raises(Unavailable):
        await search.walk(NOON, Asking(within_s=8.0))

    assert set(search.found) == {KEY}


@leaping
async def test_waiting_for_a_rate_limit_does_not_count_towards_the_bank_s_timeout():
    """A bank that allows a call every ten seconds is still asked for a third page."""

    @asynccontextmanager
    async def place() -> AsyncIterator[None]:
        await asyncio.sleep(10)
        yield

    bank = Slow(pages=[[], [], [movement(provider_key=KEY)]], takes_s=2.0)
    search = searching(bank, PAYOUT)

    await search.walk(NOON, Asking(within_s=8.0, place=place))

    assert set(search.found) == {KEY}


@leaping
async def test_a_search_ends_at_its_deadline_while_waiting():
    @asynccontextmanager
    async def place() -> AsyncIterator[None]:
        await asyncio.sleep(10)
        yield

    loop, bank = asyncio.get_running_loop(), Telling(pages=[[]] * 50)
    ends_at = loop.time() + 35

    with pytest.raises(TimeoutError):
        await searching(bank, PAYOUT).walk(NOON, Asking(within_s=8.0, ends_at=ends_at, place=place))

    assert (len(bank.windows), round(loop.time() - ends_at)) == (3, 0)


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        (frozenset(), 0),
        (frozenset({EntryField.KIND, EntryField.PARTY}), 0),
        (frozenset({EntryField.E2E_ID}), 1),
        (frozenset({EntryField.OUR_KEY}), 1),
    ],
    ids=["nothing", "kind and party", "e2e", "our key"],
)
async def test_a_statement_without_keys_and_ids_is_not_read(
    fields: frozenset[EntryField], asked: int
):
    """It could prove nothing."""
    bank = Telling(pages=[[movement(provider_key=KEY)]])
    bank.capabilities = replace(bank.capabilities, entry_fields=fields)

    seen = await found(bank)

    assert (seen is not None, len(bank.windows)) == (bool(asked), asked)
