"""
Cases about the wire: faults at every request of every call, and a bank that is not there.

Money is certainly unsent before its request, unknown and sent once at it, accepted after it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final

import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import Charge
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import (
    NotSent,
    Phase,
    ProviderError,
    Unavailable,
    Unknown,
    Unreachable,
)
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import Line, Play, Relay, Seen, reading
from provider_adapters.testing.verify.stage import AnswerForm, NotApplicable
from provider_adapters.testing.verify.suite.calls import (
    CHANGES,
    MOVES,
    OK,
    ONCE,
    WITHOUT_RESULT,
    Order,
    a_read,
    arguments,
    make,
    money_orders,
    payouts,
    refunds,
)
from provider_adapters.testing.verify.suite.faults import (
    EACH_KIND,
    FAULTS,
    WireFault,
    close,
    hang,
)
from provider_adapters.testing.verify.trial import SHORT, Trial, passed

Attempt = Callable[[], Awaitable[None]]

_AT_ONCE: Final = 12
"""Attempts at once: most of their time they wait for time limits."""
_UNCONNECTED: Final = msgspec.structs.replace(SHORT, connect_s=0.4, read_s=1.0, payout_s=1.0)
"""For addresses where no connection ever comes about."""


async def _all_of(attempts: Iterable[Attempt], at_once: int = _AT_ONCE) -> None:
    """Make every attempt; a failed one is made again alone, since a busy machine may be late."""
    lane, failed = asyncio.Semaphore(at_once), list[Attempt]()

    async def made(attempt: Attempt) -> None:
        async with lane:
            try:
                await attempt()
            except AssertionError:
                failed.append(attempt)

    async with asyncio.TaskGroup() as together:
        for each in attempts:
            together.create_task(made(each))
    for attempt in failed:
        await attempt()


async def _requests_of(trial: Trial, call: PortCall) -> Sequence[Seen]:
    """Find out what a call asks the bank when nothing goes wrong."""
    given = await arguments(trial, call)
    async with trial.again() as fresh:
        await make(fresh.adapter, call, given)
    assert fresh.relay.seen, "the bank was asked nothing"
    return fresh.relay.seen


async def money_path(trial: Trial, order: Order) -> tuple[int, int]:
    """Return the number of requests, and of that after which the books say that money moved."""
    moved: list[int] = []

    async def watched(line: Line) -> None:
        answer = await line.ask(await line.read())
        if not moved and await trial.paid(order):
            moved.append(line.number)
        await line.say(answer)

    async with trial.again(watched) as fresh:
        outcome = await fresh.pay(order)
    assert isinstance(outcome, OK), f"without a fault it is answered by {outcome!r}"
    assert await trial.paid(order) == [order.value], "without a fault it was not paid once"
    assert moved, "no request moved the money"
    return len(fresh.relay.seen), moved[0]


async def money_request(trial: Trial) -> int:
    """Return which request of a payout moves the money."""
    return (await money_path(trial, payouts(trial)()))[1]


def _spoilt(fault: WireFault, *, executed: bool = False) -> Play:
    return reading(fault.play, executed=executed) if fault.reads else fault.play


async def _call(trial: Trial, call: PortCall) -> None:
    """A call that moves no money fails in one known way, whatever breaks at its requests."""
    path = await _requests_of(trial, call)
    needs_nothing = call in WITHOUT_RESULT or trial.stage.form(call) is AnswerForm.NOTHING

    async def cut(number: int, fault: WireFault) -> None:
        what, given = f"{fault.name} at request {number}", await arguments(trial, call)
        async with trial.again(_spoilt(fault), at=number, limits=SHORT) as fresh:
            ended = await caught(make(fresh.adapter, call, given))
        if call is PortCall.REMOVE_CALLBACK:  # banks have room for a few addresses alone
            await caught(make(trial.adapter, call, given))
        enough = fault.complete and needs_nothing
        if not isinstance(ended, ProviderError):
            fine = (call is PortCall.FIND_PAYOUT and isinstance(ended, Unknown)) or (
                enough and not isinstance(ended, Exception)
            )
            assert fine or await _is_made(trial, call, ended), f"{what}: {ended!r}"
        # what came before the last request may have errors of its own
        elif number == len(path) and not enough:
            kinds = (fault.read, Unavailable) if call in CHANGES else fault.read
            assert isinstance(ended, kinds), f"{what}: raised {ended!r}"
            assert fault.reason in {"", ended.reason}, f"{what}: raised {ended!r}"
        asked = [(each.method, each.path) for each in fresh.relay.seen[number - 1 :]]
        reads = path[number - 1].method == "GET" or path[number - 1].path == trial.stage.token_path
        most = 1 if call in ONCE and not reads else 2
        assert not asked or asked.count(asked[0]) <= most, f"{what}: times asked"

    at_once = 1 if call is PortCall.REMOVE_CALLBACK else _AT_ONCE
    numbers = range(1, len(path) + 1)
    await _all_of((partial(cut, each, fault) for each in numbers for fault in EACH_KIND), at_once)


async def _is_made(trial: Trial, call: PortCall, ended: object) -> bool:
    """Say whether a charge that was returned in spite of a fault is there: it was made before."""
    if call is not PortCall.CREATE_CHARGE or not isinstance(ended, Charge):
        return False
    there = await caught(trial.adapter.get_charge(trial.account, ended.reference))
    return isinstance(there, Charge)


for _each in set(PortCall) - MOVES:
    case(f"wire.{_each.value}", _each, needs={_each})(_call)


async def caught(made: Awaitable[object]) -> object:
    """Return what a call returned or raised."""
    try:
        return await made
    except Exception as problem:  # noqa: BLE001 - an author's code may raise anything
        return problem


@case("wire.create_payout_by_key", PayoutMethod.PIX, needs={PortCall.CREATE_PAYOUT})
@case("wire.create_payout_by_account", PayoutMethod.BANK_ACCOUNT, needs={PortCall.CREATE_PAYOUT})
@case("wire.create_refund", needs={PortCall.CREATE_REFUND})
async def money(trial: Trial, method: PayoutMethod | None = None) -> None:
    """A payout or refund is sent once, and unknown unless it was certainly not sent."""
    if method:
        needs_method(trial, method)
    ordered = payouts(trial, method) if method else await refunds(trial)
    requests, moves = await money_path(trial, ordered())

    async def cut(number: int, fault: WireFault, executed: bool) -> None:  # noqa: FBT001 - of a table
        order, what = ordered(), f"{fault.name} at request {number}, executed: {executed}"
        play = _spoilt(fault, executed=executed)
        async with trial.again(play, at=number, limits=SHORT) as fresh:
            outcome = await caught(fresh.pay(order))
        wanted = [order.value] if executed or number > moves else []
        assert await trial.paid(order) == wanted, f"{what}: {outcome!r}"
        if number < moves:
            assert isinstance(outcome, NotSent), f"{what}: {outcome!r}"
        elif number > moves:
            assert isinstance(outcome, OK), f"{what}: {outcome!r}"
        else:
            assert isinstance(outcome, Unknown), f"{what}: {outcome!r}"
            assert outcome.evidence.bytes_left, f"{what}: it says that no byte left"
            assert fault.reason in {"", outcome.evidence.reason}, f"{what}: {outcome!r}"
            assert fresh.relay.connections == moves, f"{what}: it was sent once"

    await _all_of(
        partial(cut, number, fault, executed)
        for number in range(1, requests + 1)
        for fault in (FAULTS if method is trial.method else EACH_KIND)
        for executed in ((False, True) if number == moves and fault.reads else (False,))
    )


@case("wire.read_again", needs={PortCall.GET_BALANCE})
async def read_again(trial: Trial) -> None:
    """A read whose connection was lost is repeated once, and that is told."""
    path = await _requests_of(trial, PortCall.GET_BALANCE)
    async with trial.again(reading(close), at=len(path), once=True) as fresh:
        held = await fresh.adapter.get_balance(trial.account)
    assert held.balance.centavos > 0
    assert [each for _, each in fresh.witness.told["provider_retry"]] == ["get_balance"]


@case("wire.deadline", needs={PortCall.CREATE_PAYOUT})
async def deadline(trial: Trial) -> None:
    """After its deadline the money request of a payout or refund is never written."""
    for ordered in await money_orders(trial):
        _, moves = await money_path(trial, ordered())
        order = ordered()
        async with trial.again() as fresh:
            outcome = await fresh.pay(order, passed())
        assert [seen for seen in fresh.relay.seen if seen.number >= moves] == []
        assert await trial.paid(order) == []
        assert fresh.witness.told["breaker"] == [], "it was held against the bank"
        assert isinstance(outcome, NotSent), outcome
        # Checked in the same step as the write, so after connecting; what comes before may be late.
        told = (outcome.evidence.reason, outcome.evidence.phase)
        assert moves > 1 or told == (Reason.DEADLINE_PASSED, Phase.CONNECTED)


@case("wire.unreached")
async def unreached(trial: Trial) -> None:
    """A bank that takes no connection, or none with TLS, is certainly sent nothing."""
    scheme = "http" if trial.stage.relay_tls is None else "https"  # not all adapters take http
    gone, hangs_up, silent = Relay(""), Relay(""), Relay("")
    hangs_up.begin(close)
    silent.begin(hang)
    async with gone.open():
        pass
    async with hangs_up.open(), silent.open():
        for address, reasons in (
            (f"{scheme}://127.0.0.1:{gone.port}", {Reason.CONNECT_FAILED}),
            (f"https://127.0.0.1:{hangs_up.port}", set(Reason)),
            (f"https://127.0.0.1:{silent.port}", {Reason.CONNECT_TIMEOUT, Reason.TIMEOUT}),
        ):
            for ordered in await money_orders(trial):
                async with trial.at(address, _UNCONNECTED) as away:
                    outcome = await away.pay(ordered())
                assert isinstance(outcome, NotSent), f"{address}: {outcome!r}"
                assert not outcome.evidence.bytes_left, f"{address}: {outcome!r}"
                assert outcome.evidence.reason in reasons, f"{address}: {outcome!r}"
            with contextlib.suppress(NotApplicable):
                async with trial.at(address, _UNCONNECTED) as away:
                    read = await a_read(away)
                    ended = await caught(read(trial.account))
                assert isinstance(ended, Unreachable), f"{address}: {ended!r}"
                assert ended.reason in reasons, f"{address}: {ended!r}"


def needs_method(trial: Trial, method: PayoutMethod) -> None:
    """The case does not apply to an adapter that does not declare the method."""
    declared = method in trial.capabilities.destinations
    applies_if(declared, f"destinations: {method.value} is not declared")
