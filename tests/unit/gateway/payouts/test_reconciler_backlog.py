"""The reconciler with much to do: nothing that is slow holds up the rest."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from gateway.banks.followup_rate import FollowupRate
from gateway.banks.port.providers import Page, ProviderAccount, Unavailable
from gateway.banks.port.statements import Entry
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Window
from gateway.payouts.reconciler import Reconciler
from gateway.payouts.schedule import Checked
from tests.unit.gateway.payouts.reconciler import ReconcilerWorld, stood
from tests.world.movements import movement
from tests.world.payouts import (
    ACCEPTED,
    IS_ACCEPTED,
    IS_SETTLED,
    PAID,
    UNKNOWN,
    PayoutWorld,
    ScriptedBank,
)
from tests.world.standing import NOON
from tests.world.waiting import forever, until


@dataclass
class Statements(ScriptedBank):
    """A bank that knows no payout, and whose statement has one page; it counts queries."""

    entries: list[Entry] = field(default_factory=list)
    statements: int = 0

    async def list_statement(  # type: ignore[override]
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        self.statements += 1
        return Page(items=self.entries, next_cursor=None)


@pytest.fixture
def world(payout_world: PayoutWorld) -> ReconcilerWorld:
    payout_world.bank.reads["statement"] = {None: Unavailable("down")}
    return ReconcilerWorld(payout_world)


def paced(world: ReconcilerWorld, rate: FollowupRate, pause_s: float = 1.0) -> Reconciler:
    work = replace(world.reconciler._work, rate=lambda _name: rate, pause_s=pause_s)
    return Reconciler(work)


def waiting(world: ReconcilerWorld, number: int, **fields: object) -> None:
    """Payouts of one account that are due; a key of its own for each."""
    for each in range(number):
        name = f"{fields.get('provider', 'sandbox')}-{each}"
        world.board.waiting.append(
            stood(UNKNOWN, reference=name, provider_key=name.ljust(32, "0"), **fields)
        )


async def test_a_backlog_is_queried_in_one_run(world: ReconcilerWorld):
    """A full claim is followed by the next one at once, without a pause."""
    waiting(world, 40)
    world.payout_world.bank.knows = IS_ACCEPTED

    looks = await paced(world, FollowupRate(at_once=2), pause_s=3600).run_once()

    assert looks == len(world.board.looks) == 40
    assert world.board.claims > 5


async def test_a_hanging_bank_does_not_delay_another(world: ReconcilerWorld):
    """Including payouts that become due meanwhile; the store is still polled."""
    waiting(world, 3)
    world.payout_world.bank.gate.clear()
    turn = asyncio.ensure_future(paced(world, FollowupRate(at_once=4), pause_s=0.01).run_once())
    await until(lambda: world.payout_world.bank.lookups)

    waiting(world, 2, provider="other")
    await until(lambda: len(world.board.looks) == 2 and world.told)

    assert {each.reference for each in world.board.looks} == {"other-0", "other-1"}
    world.payout_world.bank.gate.set()
    await turn
    assert len(world.board.looks) == 5


async def test_an_account_s_statement_is_read_once_for_all_its_payouts(world: ReconcilerWorld):
    """Look-ups come first; those without proof wait for the same statement."""
    bank = world.payout_world.banks.adapter = Statements(knows=Unavailable("down"))
    await world.payout_world.stands(UNKNOWN)
    row = await world.payout_world.row()
    bank.entries = [movement(provider_key=row.provider_key)]
    world.board.waiting = [row]
    waiting(world, 9)

    await paced(world, FollowupRate(at_once=16)).run_once()

    states = {each.reference: each.state for each in world.board.looks}
    assert (len(bank.lookups), bank.statements) == (10, 1)
    assert states.pop(row.reference) is PAID
    assert set(states.values()) == {UNKNOWN}


@dataclass
class Pages(ScriptedBank):
    """A bank that knows no payout; its statement has pages, of which the last never comes."""

    pages: list[list[Entry]] = field(default_factory=list)

    async def list_statement(  # type: ignore[override]
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        number = int(cursor or 0)
        if number == len(self.pages):
            await forever()
        return Page(items=self.pages[number], next_cursor=str(number + 1))


async def test_a_payout_absent_in_the_statement_does_not_delay_others(
    world: ReconcilerWorld, monkeypatch: pytest.MonkeyPatch
):
    """It makes the search go back twenty hours, longer than a search may take."""
    monkeypatch.setattr("gateway.payouts.reconciler._LOOK_S", 0.05)
    await world.payout_world.stands(UNKNOWN)
    row = await world.payout_world.row()
    lost = stood(UNKNOWN, reference="lost", created_at=NOON - timedelta(hours=20))
    world.board.waiting = [row, replace(lost, provider_key="lost".ljust(32, "0"))]
    entry = movement(provider_key=row.provider_key)
    world.payout_world.banks.adapter = Pages(knows=Unavailable("down"), pages=[[entry]])

    await paced(world, FollowupRate(at_once=16)).run_once()

    states = {each.reference: each.state for each in world.board.looks}
    assert states == {row.reference: PAID, "lost": UNKNOWN}


async def test_a_movement_on_a_later_page_is_found_at_a_slow_rate(
    world: ReconcilerWorld, monkeypatch: pytest.MonkeyPatch
):
    """The waits for the account's rate are longer than the bank's timeout for its pages."""
    monkeypatch.setattr("gateway.payouts.reconciler._LOOK_S", 0.01)
    loop = asyncio.get_running_loop()

    async def wait_longer(_seconds: float) -> None:
        ends_at = loop.time() + 0.02
        await until(lambda: loop.time() > ends_at)

    await world.payout_world.stands(UNKNOWN)
    row = await world.payout_world.row()
    world.board.waiting = [row]
    entry = movement(provider_key=row.provider_key)
    world.payout_world.banks.adapter = Pages(knows=Unavailable("down"), pages=[[], [], [entry]])

    reconciler = paced(world, FollowupRate(at_once=4, per_s=4.0))
    reconciler._places_of("sandbox")._sleep = wait_longer

    await reconciler.run_once()

    [look] = world.board.looks
    assert look.state is PAID


async def test_a_statement_search_ends_before_its_claims(
    world: ReconcilerWorld, monkeypatch: pytest.MonkeyPatch
):
    """However many pages there are, and however rarely the bank may be queried."""
    monkeypatch.setattr("gateway.payouts.reconciler._SEARCHED_S", 0.05)
    waiting(world, 1)
    world.payout_world.banks.adapter = Pages(knows=Unavailable("down"), pages=[[]] * 90)
    reconciler = paced(world, FollowupRate(at_once=4, per_s=1.0))
    reconciler._places_of("sandbox")._sleep = lambda _seconds: forever()

    await reconciler.run_once()

    assert [each.state for each in world.board.looks] == [UNKNOWN]


async def test_a_payout_settled_by_a_query_does_not_wait_for_the_statement(world: ReconcilerWorld):
    gate = asyncio.Event()

    class Slow(Statements):
        async def list_statement(self, *given: object) -> Page[Entry]:  # type: ignore[override]
            await gate.wait()
            return Page(items=[], next_cursor=None)

        async def find_payout(self, account, key, provider_id):  # type: ignore[no-untyped-def]
            if key == row.provider_key:
                return IS_SETTLED
            return IS_ACCEPTED

    await world.payout_world.stands(ACCEPTED)
    row = await world.payout_world.row()
    world.payout_world.banks.adapter = Slow()
    world.board.waiting = [row]
    waiting(world, 2)
    turn = asyncio.ensure_future(paced(world, FollowupRate(at_once=4)).run_once())
    await until(lambda: world.board.looks)
    let_go = [each.state for each in world.board.looks]
    gate.set()
    await turn

    assert let_go == [PAID]
    assert len(world.board.looks) == 3


async def test_the_configured_rate_is_kept(world: ReconcilerWorld):
    """Calls for one account are sequential, at a tenth of the rate its bank allows."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    waiting(world, 3)
    reconciler = paced(world, FollowupRate(at_once=4, per_s=1000.0))
    places = reconciler._places_of("sandbox")
    places._sleep = sleep
    assert places._buckets is not None
    places._buckets.clock = lambda: 0.0

    await reconciler.run_once()

    # three looks and the statement's only page
    assert [round(each, 3) for each in slept] == [0.001, 0.002, 0.003]


async def test_claims_of_a_failed_run_are_released(
    world: ReconcilerWorld, monkeypatch: pytest.MonkeyPatch
):
    async def away(_checked: Checked) -> bool:
        message = "away"
        raise StoreUnavailable(message)

    waiting(world, 4)
    reconciler = paced(world, FollowupRate(at_once=2))
    with monkeypatch.context() as broken:
        broken.setattr(world.board, "checked", away)
        with pytest.raises(ExceptionGroup):
            await reconciler.run_once()
    waiting(world, 4)

    assert await reconciler.run_once() == 4
