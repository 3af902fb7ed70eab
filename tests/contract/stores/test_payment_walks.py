"""Walks of accounts on each database: payments that nobody told of are found, and told once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, TypeVar

import pytest
from sqlalchemy import select, update

from gateway.app.store import Store
from gateway.banks.followup_rate import SLOWEST, FollowupRate, Shares
from gateway.banks.port.capabilities import EntryField, PortCall
from gateway.banks.port.charges import ChargeType
from gateway.banks.port.providers import Bank, Page, PixReturn, ProviderAccount, Unreachable
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.charges.model import ChargeRecord, ChargeState
from gateway.charges.records import ChargeNotes, KeptCharges
from gateway.charges.store import StoredCharges
from gateway.core.account import Account
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Window, local_start
from gateway.endpoints.model import PauseCause
from gateway.events.model import Event, EventType
from gateway.events.readers import FeedReaders
from gateway.payouts.followup import FollowUp
from gateway.payouts.model import Payout, PayoutState
from gateway.received.store import WalkRecords, oldest_walks
from gateway.received.walk import PaymentWalk
from gateway.received.walks import PaymentWalks
from gateway.refunds.store import RefundRecords
from gateway.statements.model import local_day
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.tables.core import accounts, charges, events, payment_walks, received
from tests.contract.stores.databases import both
from tests.world.deliveries import add_endpoint, an_endpoint, endpoints_of
from tests.world.movements import movement
from tests.world.payouts import CAREFUL, ScriptedBank
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, attempt, change, of, payout
from tests.world.waiting import until

Item = TypeVar("Item")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SENDING, PAID = PayoutState.SENDING, PayoutState.PAID
OPTIONAL: Final = frozenset({PortCall.LIST_RECEIVED, PortCall.LIST_REFUNDS})
UNUSED: Any = None


def e2e(number: int, letter: str = "E") -> str:
    return f"{letter}{number:031}"


def credit(number: int, at: datetime = NOW - MINUTE, **changed: object) -> Entry:
    given = {
        "provider_id": f"line-{number}",
        "e2e_id": e2e(number),
        "direction": Direction.CREDIT,
        "kind": MovementKind.PIX,
        "created_at": at,
    }
    return movement(**{**given, **changed})


def payment(
    number: int, reference: str = "", value: int = 1050, at: datetime = NOW - MINUTE
) -> IncomingPayment:
    return IncomingPayment(
        reference=reference,
        e2e_id=e2e(number),
        provider_id=f"line-{number}",
        value=Money(value),
        refunded=Money(0),
        paid_at=at,
        payer=None,
    )


@dataclass
class Lists(ScriptedBank):
    """
    A bank with movements, payments and refunds, in pages of two.

    Attributes:
        asked: Each call and the page that it asked for.
        fails: Raised by every list.
    """

    movements: Sequence[Entry] = ()
    payments: Sequence[IncomingPayment] = ()
    refunds: Sequence[Refund] = ()
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    fails: Exception | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        calls = CAREFUL.calls | OPTIONAL
        self.capabilities = replace(CAREFUL, calls=calls, largest_page=2)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        await self._asked("statement", cursor)
        return _page(self.movements, attrgetter("created_at"), window, cursor, limit)

    async def list_received(
        self, _account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        await self._asked("received", cursor)
        return _page(self.payments, attrgetter("paid_at"), window, cursor, limit)

    async def list_refunds(
        self, _account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        await self._asked("refunds", cursor)
        return _page(self.refunds, attrgetter("created_at"), window, cursor, limit)

    async def _asked(self, name: str, cursor: str | None) -> None:
        self.asked.append((name, cursor))
        await self.gate.wait()
        if self.fails:
            raise self.fails


def _page(
    items: Sequence[Item],
    at: Callable[[Item], datetime],
    window: Window,
    cursor: str | None,
    limit: int,
) -> Page[Item]:
    """Return a page of a window, newest first; cursors are numbers."""
    inside = [each for each in items if window.start <= at(each) < window.end]
    inside.sort(key=at, reverse=True)
    start = int(cursor or 0)
    more = str(start + limit) if len(inside) > start + limit else None
    return Page(items=tuple(inside[start : start + limit]), next_cursor=more)


@dataclass
class Site:
    """Walks over a store, at the banks of some accounts; ``now`` moves."""

    store: Store
    banks: dict[str, Lists]
    now: datetime = NOW
    rate: FollowupRate = SLOWEST
    counted: list[str] = field(default_factory=list)

    def of(self, account: Account) -> Bank | None:
        adapter = self.banks.get(account.id)
        known = ProviderAccount(account_id=account.id, provider_account=account.provider_account)
        return Bank(account.provider, adapter, known, False) if adapter else None

    @property
    def database(self) -> Database:
        """The database; payments are told by its clock."""
        return replace(self.store.database, now=lambda: NOW)

    @property
    def records(self) -> WalkRecords:
        return WalkRecords(self.store.database)

    @property
    def walks(self) -> PaymentWalks:
        database = self.database
        stored = StoredCharges(database)
        notes = ChargeNotes(stored, lambda: self.now)
        follow_up = FollowUp(
            self.store.payouts, self, lambda: self.now, lambda _event, _label: None, UNUSED
        )
        return PaymentWalks(
            banks=self,
            records=self.records,
            walk=PaymentWalk(
                charges=KeptCharges(
                    records=stored, notes=notes, now=lambda: self.now, new_id=UNUSED
                ),
                payouts=self.store.payouts,
                note_returns=follow_up.note,
                refunds=RefundRecords(database),
                records=self.records,
            ),
            shares=Shares(lambda _provider: self.rate),
            count=lambda _event, label: self.counted.append(label),
            now=lambda: self.now,
        )

    async def reads(self, *account_ids: str, at: datetime = NOW - 2 * MINUTE) -> None:
        """Let partners read the feeds of accounts."""
        readers = FeedReaders(self.store.database, lambda: at)
        for each in account_ids:
            readers.note(each)
        await readers.write()

    async def turn(self) -> list[Event]:
        """Walk once; return what was told by it."""
        before = {each.id for each in await self.told()}
        await self.walks.turn()
        return [each for each in await self.told() if each.id not in before]

    async def told(self) -> list[Event]:
        rows = await self.store.database.rows(select(events).order_by(events.c.number))
        return [from_row(row, Event) for row in rows]

    async def walked(self) -> dict[str, datetime]:
        rows = await self.store.database.rows(select(payment_walks))
        return {row.account_id: row.until for row in rows}


async def opened(store: Store, *credits_: Entry, payments: Sequence[IncomingPayment] = ()) -> Site:
    """Return the walks of an account whose feed was read two minutes ago."""
    site = Site(store, {ACCOUNT: Lists(movements=credits_, payments=payments)})
    await site.reads(ACCOUNT)
    return site


async def charged(store: Store, reference: str, centavos: int, *, reusable: bool = False) -> None:
    made = ChargeRecord(
        id=f"id-{reference}",
        account_id=ACCOUNT,
        reference=reference,
        provider="sandbox",
        type=ChargeType.DYNAMIC,
        reusable=reusable,
        centavos=centavos,
        state=ChargeState.ACTIVE,
        created_at=NOW - HOUR,
        expires_at=None,
        updated_at=NOW - HOUR,
    )
    await StoredCharges(store.database).renew(made)


async def charge_state(store: Store, reference: str) -> tuple[str, str]:
    [row] = await store.database.rows(select(charges).where(charges.c.reference == reference))
    return row.state, row.e2e_id


@both
async def test_a_payment_without_a_charge_has_one_event(store: Store) -> None:
    """And kept as a row of its own."""
    site = await opened(store, credit(1), payments=[payment(1)])

    [event] = await site.turn()
    site.now = NOW + MINUTE

    assert await site.turn() == []
    assert (event.type, event.account_id) == (EventType.PIX_RECEIVED, ACCOUNT)
    assert (event.e2e_id, event.reference) == (e2e(1), "")
    rows = await store.database.rows(select(received))
    assert [(row.account_id, row.e2e_id, row.paid_at) for row in rows] == [
        (ACCOUNT, e2e(1), NOW - MINUTE)
    ]
    assert site.counted == ["sandbox.walked"] * 2


@both
async def test_two_walks_at_once_write_one_event_of_a_payment(store: Store, second: Store) -> None:
    """As after a lease that was lost."""
    site = await opened(store, credit(1), credit(2), payments=[payment(1), payment(2)])
    other = Site(second, site.banks)

    await asyncio.gather(site.walks.turn(), other.walks.turn())

    assert sorted(str(each.e2e_id) for each in await site.told()) == [e2e(1), e2e(2)]


@both
async def test_a_payment_pays_the_charge_that_it_names_if_its_amount_suffices(
    store: Store,
) -> None:
    """Anybody can write the name of a charge into a payment of one centavo."""
    for reference in ("paid", "too-little"):
        await charged(store, reference, 1050)
    named = [payment(1, "paid"), payment(2, "too-little", value=1)]
    site = await opened(store, credit(1), credit(2, value=Money(1)), payments=named)

    told = await site.turn()

    assert {each.e2e_id: each.reference for each in told} == {
        e2e(1): "paid",
        e2e(2): "too-little",
    }
    assert await charge_state(store, "paid") == ("Paid", e2e(1))
    assert await charge_state(store, "too-little") == ("Active", "")


async def test_a_reusable_charge_paid_twice_has_two_events(store: Store) -> None:
    await charged(store, "again", 1050, reusable=True)
    first, later = NOW - MINUTE, NOW - MINUTE / 2
    named = [payment(1, "again", at=first), payment(2, "again", at=later)]
    site = await opened(store, credit(1, first), credit(2, later), payments=named)

    told = await site.turn()

    assert [(each.reference, each.e2e_id) for each in told] == [
        ("again", e2e(1)),
        ("again", e2e(2)),
    ]
    assert await charge_state(store, "again") == ("Active", e2e(2))


async def test_movements_that_are_no_payments_have_no_event(store: Store) -> None:
    """None hides a payment beside it. No list of the bank's says which are payments."""
    others = [
        credit(2, e2e_id=""),
        credit(3, e2e_id="of another form"),
        credit(4, is_pix=False, kind=MovementKind.TED),
        credit(5, direction=Direction.DEBIT),
        credit(6, kind=MovementKind.PIX_RETURN),
        credit(7, e2e_id=e2e(7, "D")),
    ]
    site = await opened(store, *others, credit(1))
    bank = site.banks[ACCOUNT]
    bank.capabilities = replace(bank.capabilities, calls=CAREFUL.calls)

    assert [each.e2e_id for each in await site.turn()] == [e2e(1)]


async def test_a_payment_waits_ten_minutes_for_the_list_that_names_its_charge(
    store: Store,
) -> None:
    late = credit(2)
    site = await opened(store, credit(1), late)
    site.banks[ACCOUNT].payments = [payment(1, "cob-1")]

    first = await site.turn()
    site.now = NOW + MINUTE
    site.banks[ACCOUNT].payments = [payment(1, "cob-1"), payment(2, "cob-2")]
    then = await site.turn()

    assert [each.reference for each in (*first, *then)] == ["cob-1", "cob-2"]


async def test_a_payment_on_no_list_has_an_event_without_a_charge(store: Store) -> None:
    site = await opened(store, credit(1))

    first = await site.turn()
    site.now = NOW + 9 * MINUTE
    then = await site.turn()

    assert first == []
    assert [(each.e2e_id, each.reference) for each in then] == [(e2e(1), "")]


async def test_payments_are_found_in_the_statement_without_a_list_of_payments(
    store: Store,
) -> None:
    site = await opened(store, credit(1))
    bank = site.banks[ACCOUNT]
    bank.capabilities = replace(bank.capabilities, calls=CAREFUL.calls)

    assert [(each.e2e_id, each.reference) for each in await site.turn()] == [(e2e(1), "")]


@pytest.mark.parametrize("lacks", [EntryField.E2E_ID, EntryField.KIND])
async def test_a_statement_without_ids_or_kinds_is_not_read(
    store: Store, lacks: EntryField
) -> None:
    """What is a payment there would be a guess; the bank's list says it."""
    site = await opened(store, credit(9), payments=[payment(1, "cob-1")])
    bank = site.banks[ACCOUNT]
    bank.capabilities = replace(
        bank.capabilities, entry_fields=bank.capabilities.entry_fields - {lacks}
    )

    told = await site.turn()

    assert [(each.e2e_id, each.reference) for each in told] == [(e2e(1), "cob-1")]
    assert {name for name, _ in bank.asked} == {"received"}


async def test_a_bank_without_either_is_not_asked_and_not_overdue(store: Store) -> None:
    site = await opened(store)
    bank = site.banks[ACCOUNT]
    bank.capabilities = replace(CAREFUL, calls=CAREFUL.calls - {PortCall.LIST_STATEMENT})

    assert await site.turn() == []

    assert (bank.asked, site.counted) == ([], ["sandbox.not_offered"])
    assert await site.walked() == {ACCOUNT: NOW}


async def test_an_account_without_a_bank_is_not_overdue(store: Store) -> None:
    """One whose bank is not configured any more is: its payments come when it is again."""
    site = Site(store, {})
    await site.reads(ACCOUNT, SISTER)
    without = update(accounts).where(accounts.c.id == SISTER).values(provider="")
    await store.database.write(without)

    assert await site.turn() == []

    assert sorted(site.counted) == [".not_offered", "sandbox.failed"]
    assert await site.walked() == {ACCOUNT: NOW - 2 * MINUTE, SISTER: NOW}


@both
async def test_accounts_are_walked_whose_feed_was_read_within_a_day(store: Store) -> None:
    site = Site(store, {each: Lists(movements=[credit(1)]) for each in (ACCOUNT, SISTER)})
    await site.reads(ACCOUNT, at=NOW - 25 * HOUR)
    await site.reads(SISTER, at=NOW - 23 * HOUR)

    await site.walks.turn()

    assert site.banks[ACCOUNT].asked == []
    assert site.banks[SISTER].asked


@both
@pytest.mark.parametrize("named", [(), (ACCOUNT,)])
async def test_accounts_with_an_endpoint_are_walked(store: Store, named: tuple[str, ...]) -> None:
    """As long as it is not paused, and though nobody reads their feed."""
    told = set(named or (ACCOUNT, SISTER))
    site = Site(store, {each: Lists() for each in (ACCOUNT, SISTER)})
    endpoint = await add_endpoint(store, an_endpoint(account_ids=named))

    await site.walks.turn()

    assert {each for each, bank in site.banks.items() if bank.asked} == told
    await endpoints_of(store.database).pause(endpoint, PauseCause.GONE, NOW)
    for bank in site.banks.values():
        bank.asked.clear()
    await site.walks.turn()
    assert not any(bank.asked for bank in site.banks.values())


async def test_an_account_that_is_not_active_is_not_walked(store: Store) -> None:
    site = await opened(store, credit(1))
    inactive = update(accounts).where(accounts.c.id == ACCOUNT).values(active=False)
    await store.database.write(inactive)

    assert await site.turn() == []
    assert site.banks[ACCOUNT].asked == []


async def test_payments_before_the_first_read_of_the_feed_have_no_event(store: Store) -> None:
    old = credit(1, NOW - 10 * MINUTE)
    site = await opened(store, old, credit(2))
    site.banks[ACCOUNT].payments = [payment(1, at=old.created_at), payment(2)]

    assert [each.e2e_id for each in await site.turn()] == [e2e(2)]


async def test_a_payment_that_the_bank_shows_late_has_an_event(store: Store) -> None:
    """By the next walk within minutes, and within the hour after some hours."""
    site = Site(store, {ACCOUNT: Lists()})
    await site.reads(ACCOUNT, at=NOW - 20 * HOUR)
    await site.turn()
    bank, told = site.banks[ACCOUNT], []
    for number, ago, later in ((1, 10 * MINUTE, MINUTE), (2, 5 * HOUR, HOUR)):
        at = NOW - ago
        bank.movements = (*bank.movements, credit(number, at))
        bank.payments = (*bank.payments, payment(number, at=at))
        site.now = NOW + later
        while (await site.walked())[ACCOUNT] < site.now:
            told += await site.turn()

    assert [each.e2e_id for each in told] == [e2e(1), e2e(2)]


async def test_a_feed_that_is_read_again_after_weeks_is_walked_from_where_it_was_left(
    store: Store,
) -> None:
    times = [NOW - days * DAY for days in range(10, 0, -1)]
    site = Site(store, {ACCOUNT: Lists(movements=[credit(n, at) for n, at in enumerate(times)])})
    site.banks[ACCOUNT].payments = [payment(n, at=at) for n, at in enumerate(times)]
    await site.reads(ACCOUNT, at=NOW - 11 * DAY)
    await site.reads(ACCOUNT, at=NOW - HOUR)

    told: list[Event] = []
    while (await site.walked())[ACCOUNT] < NOW:
        told += await site.turn()

    assert [each.e2e_id for each in told] == [e2e(n) for n in range(len(times))]


async def test_a_page_of_older_movements_is_the_last_one(store: Store) -> None:
    at = [NOW - minutes * MINUTE for minutes in (1, 30, 31, 32, 33, 34)]
    site = await opened(store, *(credit(n, each) for n, each in enumerate(at)))

    await site.walks.turn()

    assert [cursor for name, cursor in site.banks[ACCOUNT].asked if name == "statement"] == [
        None,
        "2",
    ]


async def test_a_bank_whose_entries_have_days_without_times_is_read_by_day(store: Store) -> None:
    """Its movements stand at the first instant of their day, hours before the walk's beginning."""
    midnight = local_start(local_day(NOW))
    site = await opened(store, credit(1, midnight), payments=[payment(1)])

    assert [(each.e2e_id, each.reference) for each in await site.turn()] == [(e2e(1), "")]


async def test_known_payments_ask_the_bank_for_no_list(store: Store) -> None:
    """An account is one call a minute while nothing comes in."""
    site = await opened(store, credit(1), payments=[payment(1)])
    await site.walks.turn()
    bank = site.banks[ACCOUNT]
    bank.asked.clear()
    site.now = NOW + MINUTE

    await site.walks.turn()

    assert bank.asked == [("statement", None)]


@both
async def test_a_return_found_by_a_walk_has_an_event_of_its_payout(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    assert await store.payouts.record(of(change(SENDING, PAID), e2e_id=e2e(5)))
    back = credit(
        6,
        e2e_id=e2e(6, "D"),
        kind=MovementKind.PIX_RETURN,
        provider_key=payout().provider_key,
    )
    site = await opened(store, back)

    [event] = await site.turn()
    site.now = NOW + MINUTE

    assert await site.turn() == []
    assert (event.type, event.reference) == (EventType.PAYOUT_RETURNED, "order-1")
    assert event.return_id == e2e(6, "D")
    [found] = await store.payouts.returns(ACCOUNT, "order-1")
    assert found == PixReturn(id=e2e(6, "D"), value=back.value, at=back.created_at)


async def test_another_bank_account_shows_no_return_of_a_payout(store: Store) -> None:
    elsewhere: Payout = replace(payout(), provider_account="conta-2")
    await store.payouts.add(elsewhere, attempt())
    assert await store.payouts.record(of(change(SENDING, PAID), e2e_id=e2e(5)))
    back = credit(
        6,
        e2e_id=e2e(6, "D"),
        kind=MovementKind.PIX_RETURN,
        provider_key=elsewhere.provider_key,
    )
    site = await opened(store, back)

    assert await site.turn() == []


async def test_a_refund_has_an_event_once_the_list_of_refunds_shows_it_paid(
    store: Store,
) -> None:
    given_back = credit(
        8, e2e_id=e2e(8, "D"), direction=Direction.DEBIT, kind=MovementKind.PIX_RETURN
    )
    site = await opened(store, given_back)
    bank = site.banks[ACCOUNT]

    async def shown(status: RefundStatus) -> list[Event]:
        refund = Refund(
            reference="",
            provider_key="",
            provider_id="dev-8",
            payment_e2e_id=e2e(1),
            payment_reference="",
            return_id=e2e(8, "D"),
            value=Money(1050),
            description="",
            status=status,
            failure=None,
            created_at=NOW - 2 * HOUR,
            settled_at=None,
        )
        bank.refunds = [refund]
        site.now += MINUTE
        return await site.turn()

    waiting = await shown(RefundStatus.PROCESSING)
    [event] = await shown(RefundStatus.PAID)
    bank.asked.clear()
    again = await shown(RefundStatus.PAID)

    assert (waiting, again) == ([], [])
    assert (event.type, event.e2e_id) == (EventType.PIX_REFUNDED, e2e(1))
    assert event.return_id == e2e(8, "D")
    assert "refunds" not in {name for name, _ in bank.asked}


@pytest.mark.parametrize("problem", [Unreachable("breaker_open"), KeyError("nonsense")])
async def test_a_failing_bank_of_one_account_affects_no_other(
    store: Store, problem: Exception
) -> None:
    """It is walked from the same instant later, and its payments are told then."""
    failing, healthy = (
        Lists(movements=[credit(number)], payments=[payment(number)]) for number in (1, 2)
    )
    site = Site(store, {ACCOUNT: failing, SISTER: healthy})
    await site.reads(ACCOUNT, SISTER)
    failing.fails = problem

    first = await site.turn()
    walked = await site.walked()
    failing.fails, site.now = None, NOW + MINUTE
    then = await site.turn()

    assert [each.e2e_id for each in first] == [e2e(2)]
    assert walked == {ACCOUNT: NOW - 2 * MINUTE, SISTER: NOW}
    assert sorted(site.counted[:2]) == ["sandbox.failed", "sandbox.walked"]
    assert [each.e2e_id for each in then] == [e2e(1)]


async def test_a_bank_that_hangs_for_one_account_delays_no_other(store: Store) -> None:
    """Even where the follow-up has one place at the bank."""
    hanging, healthy = Lists(), Lists(movements=[credit(1)], payments=[payment(1)])
    hanging.gate.clear()
    site = Site(store, {ACCOUNT: hanging, SISTER: healthy}, rate=FollowupRate(at_once=1))
    await site.reads(ACCOUNT, SISTER)

    walking = asyncio.create_task(site.walks.turn())
    found = await until(site.told)
    assert not walking.done()
    hanging.gate.set()
    await walking

    assert [(each.account_id, each.e2e_id) for each in found] == [(SISTER, e2e(1))]
    assert hanging.asked


@both
async def test_accounts_take_turns(store: Store) -> None:
    """Those that were tried longest ago come first, and those first that were never tried."""
    site = Site(store, {})
    await site.reads(ACCOUNT, SISTER)
    orders = []
    for minutes, tried in enumerate((ACCOUNT, SISTER, ACCOUNT)):
        now = NOW + minutes * MINUTE
        due = {each.account.id: each for each in await site.records.due(now)}
        await site.records.note(due[tried], NOW, now)
        orders.append([each.account.id for each in await site.records.due(now)])

    assert orders == [[SISTER, ACCOUNT], [ACCOUNT, SISTER], [SISTER, ACCOUNT]]


async def test_an_account_that_a_turn_does_not_reach_is_left_as_it_was(store: Store) -> None:
    """It is no failure, and it keeps its place in front of those that were tried."""
    site = await opened(store, credit(1), payments=[payment(1)])

    await replace(site.walks, turn_s=0.0).turn()

    assert (site.banks[ACCOUNT].asked, site.counted) == ([], [])
    assert (await store.database.rows(select(payment_walks)))[0].tried_at is None


@both
async def test_a_read_of_a_feed_is_written_once_in_ten_minutes(store: Store) -> None:
    now, rows = NOW, select(payment_walks)
    readers = FeedReaders(store.database, lambda: now)
    seen = []
    for minutes in (0, 1, 9, 10, 11):
        now = NOW + minutes * MINUTE
        readers.note(ACCOUNT)
        await readers.write()
        readers.note(ACCOUNT)
        [row] = await store.database.rows(rows)
        assert (row.begun_at, row.until) == (NOW, NOW)
        seen.append(row.read_at)

    assert [(each - NOW) // MINUTE for each in seen] == [0, 0, 0, 10, 10]


async def test_a_failed_note_of_a_feed_read_is_repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = FeedReaders(store.database, lambda: NOW)
    readers.note(ACCOUNT)

    def away(_database: Database) -> None:
        raise StoreUnavailable

    with monkeypatch.context() as broken:
        broken.setattr(Database, "writing", away)
        with pytest.raises(StoreUnavailable):
            await readers.write()
    await readers.write()

    assert len(await store.database.rows(select(payment_walks))) == 1


@both
async def test_the_oldest_walk_of_each_bank_is_reported(store: Store) -> None:
    """Of accounts that are walked."""
    site = Site(store, {})
    nobody = await oldest_walks(store.database, NOW)
    await site.reads(ACCOUNT, at=NOW - 2 * HOUR)
    await site.reads(SISTER, at=NOW - 3 * DAY)

    assert nobody == {}
    assert await oldest_walks(store.database, NOW) == {"sandbox": NOW - 2 * HOUR}
