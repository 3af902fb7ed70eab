"""Addresses at banks, and events that banks could not deliver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    MissedEvent,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import ProviderAccount, ProviderError, Unavailable
from gateway.callbacks.model import Callback, CallbackSearch
from gateway.callbacks.reception import Reception
from gateway.callbacks.registrations import CallbackOrders, CallbackRegistrations, MissedEvents
from gateway.callbacks.store import CallbackRecords
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from tests.unit.offering import Log, acting
from tests.world import registers
from tests.world.registers import Registers
from tests.world.standing import Clock

ORDER = CallbackOrder(url="https://us.example/callbacks/p/t", secret=b"canary")
ACCOUNT_ID = "5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f"


def event(name: str, kind: CallbackKind = CallbackKind.CHARGE) -> MissedEvent:
    return MissedEvent(
        id=f"id-{name}", notice=Notice(event=name, kind=kind, subject="r"), body=name.encode()
    )


@dataclass(frozen=True)
class Account:
    id: str = ACCOUNT_ID
    provider: str = "p"


@dataclass
class World:
    """Accounts and their bank, which has addresses and missed events."""

    accounts: list[Account] = field(default_factory=lambda: [Account()])
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(calls=frozenset(PortCall))
    )
    problem: ProviderError | None = None
    lacks_credentials: bool = False
    known: list[RegisteredCallback] = field(default_factory=list)
    missed: dict[str, list[MissedEvent]] = field(default_factory=dict)
    forgets: bool = True
    asked: int = 0
    others: asyncio.Event = field(default_factory=asyncio.Event)

    async def find(self, account_id: str) -> Account | None:
        return next((each for each in self.accounts if each.id == account_id), None)

    async def some_at(self, provider: str, skip: int, most: int) -> list[Account]:
        theirs = [each for each in self.accounts if each.provider == provider]
        return theirs[skip : skip + most]

    def of(self, account: Account) -> Any:
        if account.provider not in {"p", "q"}:
            return None
        place = ProviderAccount(account_id=account.id, provider_account=f"at {account.id}")
        return SimpleNamespace(
            adapter=self, lacks_credentials=self.lacks_credentials, account=place
        )

    async def register_callback(self, _account: object, order: CallbackOrder) -> RegisteredCallback:
        self._fails()
        self.known.append(RegisteredCallback(id="av_1", url=order.url))
        return self.known[-1]

    async def list_callbacks(self, _account: object) -> list[RegisteredCallback]:
        self._fails()
        return self.known

    async def remove_callback(self, _account: object, callback_id: str) -> None:
        self._fails()
        self.known = [each for each in self.known if each.id != callback_id]

    async def list_missed_events(
        self, account: ProviderAccount, limit: int
    ) -> Sequence[MissedEvent]:
        self.asked += 1
        if account.account_id == "waits":
            await self.others.wait()
        self.others.set()
        if account.account_id == "silent":
            raise Unavailable("timeout")  # noqa: EM101 - a fixed word
        return self.missed.get(account.account_id, [])[:limit]

    async def acknowledge_events(self, account: ProviderAccount, event_ids: Sequence[str]) -> None:
        if self.forgets:
            left = self.missed[account.account_id]
            self.missed[account.account_id] = [each for each in left if each.id not in event_ids]

    def _fails(self) -> None:
        if self.problem is not None:
            raise self.problem


def registrations(world: World, log: Log) -> CallbackRegistrations:
    given: Any = world
    audit: Any = log
    return CallbackRegistrations(accounts=given, banks=given, audit=audit, acting=acting())


async def test_registering_listing_and_removing_an_address_is_audited():
    """The audit log has the user and the account, never the address or the secret."""
    world, log = World(), Log()
    does = registrations(world, log)
    account = await does.account(ACCOUNT_ID)

    made = await does.register(account, ORDER)
    assert list(await does.list(account)) == [made]
    await does.remove(account, made.id)

    assert list(await does.list(account)) == []
    assert log.actions == ["callback.registered", "callback.removed"]
    assert {each.subject for each in log.events} == {f"account:{ACCOUNT_ID}"}
    assert log.events[0].details == {"provider": "p", "callback": "av_1"}


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        (World(problem=Unavailable("timeout")), "the bank did not do it: timeout"),
        (World(capabilities=Capabilities()), "offers no such call"),
        (World(lacks_credentials=True), "no credentials"),
        (World(accounts=[Account(provider="")]), "has no provider"),
    ],
    ids=["silent", "lacking", "credentials", "nobody"],
)
async def test_an_unsupported_registration_is_refused_without_an_audit_event(
    world: World, reason: str
):
    log = Log()
    does = registrations(world, log)
    account = await does.account(ACCOUNT_ID)

    for call in (does.register(account, ORDER), does.list(account), does.remove(account, "x")):
        with pytest.raises(RuleViolation, match=reason):
            await call
    assert log.events == []


@pytest.mark.parametrize("account_id", ["x", ACCOUNT_ID.replace("5", "6")])
async def test_an_invalid_account_is_reported(account_id: str):
    with pytest.raises(RuleViolation):
        await registrations(World(), Log()).account(account_id)


@dataclass
class Hall:
    office: Registers

    def missed(self, world: World, *providers: str) -> MissedEvents:
        reception = Reception(
            store=CallbackRecords(self.office.store.database),
            addresses={},
            now=Clock().now,
            new_id=self.office.new_id,
            note=lambda _provider, _result: None,
            wake=lambda: None,
        )
        given: Any = world
        return MissedEvents(
            providers=providers or ("p",), accounts=given, banks=given, reception=reception
        )

    async def all(self) -> list[Callback]:
        search = CallbackSearch(paging=Paging(1, 1000))
        return list(
            (await CallbackRecords(self.office.store.database).search(search, EVERY_COMPANY)).items
        )


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with registers.opened(tmp_path) as office:
        yield Hall(office)


async def test_missed_events_are_stored_once_and_acknowledged(hall: Hall):
    """Like callbacks, each for the account that was queried."""
    world = World(missed={ACCOUNT_ID: [event("a"), event("b", CallbackKind.PAYOUT)]})

    assert await hall.missed(world).turn() == 2
    assert await hall.missed(world).turn() == 0

    kept = {each.event: each for each in await hall.all()}
    assert world.missed == {ACCOUNT_ID: []}
    assert (kept["a"].account, kept["a"].body) == (f"at {ACCOUNT_ID}", b"a")
    assert (kept["b"].account, kept["b"].kind) == ("", CallbackKind.PAYOUT)


async def test_a_bank_that_keeps_acknowledged_events_is_read_a_few_times(hall: Hall):
    world = World(missed={ACCOUNT_ID: [event(str(n)) for n in range(100)]}, forgets=False)

    await hall.missed(world).turn()

    assert world.asked == 10
    assert len(await hall.all()) == 100


async def test_an_account_whose_events_cannot_be_read_does_not_stop_others(hall: Hall):
    world = World(
        accounts=[Account("silent"), *(Account(f"a{n}") for n in range(150))],
        missed={"a149": [event("x")]},
    )

    assert await hall.missed(world).turn() == 1
    assert world.asked == 151


async def test_an_unreachable_bank_is_skipped(hall: Hall, caplog: pytest.LogCaptureFixture):
    """Until the next run, with one line in the log."""
    world = World(accounts=[Account("silent")] * 50)

    assert await hall.missed(world).turn() == 0
    assert world.asked == 5
    assert caplog.messages == ["missed events of p: timeout"]


async def test_a_bank_without_the_call_is_not_queried(hall: Hall):
    world = World(capabilities=Capabilities(), accounts=[Account(), Account("b")])

    assert await hall.missed(world, "p", "other").turn() == 0
    assert world.asked == 0


async def test_missed_events_of_banks_are_read_concurrently(hall: Hall):
    """The first answers only after the second was queried."""
    world = World(accounts=[Account("waits"), Account("b", provider="q")])

    assert await hall.missed(world, "p", "q").turn() == 0
    assert world.asked == 2


def test_a_bank_without_callbacks_gets_no_registration():
    order = CallbackOrder(url="https://pix.example.com/callbacks/bank/1", secret=b"")
    orders = CallbackOrders({"bank": order})

    assert orders.of("bank") is order
    with pytest.raises(RuleViolation, match="the adapter of far takes no callbacks"):
        orders.of("far")
