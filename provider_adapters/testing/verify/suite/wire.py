"""
Cases about the wire: every fault at every request of every call, and a bank that is not there.

A read fails with one of the port's errors, in time. What moves money is proven unsent before
its money request, unknown and sent once at it, and accepted after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    NotSent,
    Phase,
    ProviderError,
    Unavailable,
    Unknown,
    Unreachable,
)
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import Act, Play, Relay, Seen, at_request, from_request
from provider_adapters.testing.verify.stage import AnswerForm, NotApplicable
from provider_adapters.testing.verify.suite.calls import (
    CHANGES,
    MOVES,
    OK,
    ONCE,
    WITHOUT_RESULT,
    Call,
    MakeMoneyCall,
    MoneyCall,
    payouts,
    prepare,
    refunds,
)
from provider_adapters.testing.verify.suite.faults import (
    AN_EMPTY_LIST,
    FAULTS,
    WireFault,
    close,
    hang,
)
from provider_adapters.testing.verify.trial import UNCONNECTED, Trial, Witness, far, passed, soon

Attempt = Callable[[], Awaitable[None]]

_AT_ONCE: Final = 4
_WAITING_AT_ONCE: Final = 64
"""Attempts at once; what waits for a time limit costs no processor."""
_WAITING_WITH_TLS: Final = 16
"""Handshakes at once would keep one another from ending in time."""
_ADDRESSES_AT_ONCE: Final = 3
"""Banks have room for a few addresses of callbacks alone."""
_MOST_FAILED: Final = 10
"""So many are no accident: the rest is left out."""
_PATIENCE_S: Final = 10.0
"""Bank and adapter share one loop on a machine that may be busy; what hangs takes longer."""
_OVER_TLS: Final = (PortCall.GET_BALANCE, PortCall.GET_CHARGE)
"""The first that is declared meets its faults in TLS, as payouts do: it is the same for all."""
_CONTENT: Final = {str(Reason.NOT_JSON), str(Reason.WRONG_SHAPE)}
_HERE: Final = "127.0.0.1"
_LATE: Final = frozenset({"connect_timeout", "timeout"})
"""The repetition of a read may run into the limit of the whole call."""


async def _all_of(
    trial: Trial, attempts: Iterable[tuple[bool, Attempt]], most: int = _WAITING_AT_ONCE
) -> None:
    """
    Make every attempt, those that wait many at once; ``most`` if the bank has room for so many.

    One that fails is made once more when the others have ended: on a machine that is busy a
    time limit may have come before the fault.
    """
    if trial.stage.relay_tls is not None:
        most = min(most, _WAITING_WITH_TLS)
    waiting = asyncio.Semaphore(most)
    working = asyncio.Semaphore(_AT_ONCE) if most > _AT_ONCE else waiting
    failed: list[Attempt] = []

    async def made(attempt: Attempt, lane: asyncio.Semaphore) -> None:
        async with lane:
            try:
                if len(failed) <= _MOST_FAILED:
                    await attempt()
            except AssertionError:
                failed.append(attempt)

    async with asyncio.TaskGroup() as together:
        for waits, each in attempts:
            together.create_task(made(each, waiting if waits else working))
    for attempt in failed:
        await attempt()


async def requests_of(trial: Trial, call: Call) -> Sequence[Seen]:
    """Find out what a call asks the bank when nothing goes wrong."""
    async with trial.again() as fresh:
        await call(fresh.adapter)
    assert fresh.relay.seen, "the bank was asked nothing"
    return fresh.relay.seen


async def money_path(trial: Trial, order: MoneyCall) -> tuple[int, int]:
    """
    Find out which request moves the money: the one after which the books say so.

    Returns the number of all requests, and of that one.
    """
    moved: list[int] = []

    async def after(seen: Seen) -> None:
        if not moved and await trial.paid(order.key):
            moved.append(seen.number)

    async with trial.again() as fresh:
        fresh.relay.after = after
        outcome = await order.made(fresh.adapter, far())
    assert isinstance(outcome, OK), f"without a fault it is answered by {outcome!r}"
    assert await trial.paid(order.key) == [order.value], "without a fault it was not paid once"
    assert moved, "no request moved the money"
    return len(fresh.relay.seen), moved[0]


async def money_request(trial: Trial) -> int:
    """Return which request of a payout moves the money."""
    return (await money_path(trial, payouts(trial)()))[1]


async def _call(trial: Trial, call: PortCall) -> None:
    """A call that moves no money fails in one known way, whatever breaks at its requests."""
    made = await prepare(trial, call)
    path = await requests_of(trial, made)
    over_tls = call is next(filter(trial.can, _OVER_TLS), None)
    attempts = [
        (fault.waits, _Read(trial, call, made, path, number, fault, over_tls))
        for number in range(1, len(path) + 1)
        for fault in FAULTS
    ]
    most = _ADDRESSES_AT_ONCE if call is PortCall.REMOVE_CALLBACK else _WAITING_AT_ONCE
    await _all_of(trial, attempts, most)


for _each in set(PortCall) - MOVES:
    case(f"wire.{_each.value}", _each, needs={_each})(_call)


@dataclass(frozen=True, slots=True)
class _Read:
    """One fault at one request of a call."""

    trial: Trial
    call: PortCall
    made: Call
    path: Sequence[Seen]
    number: int
    fault: WireFault
    over_tls: bool

    async def __call__(self) -> None:
        """Make the call, and look at what it raises."""
        fault, what = self.fault, f"{self.fault.name} at request {self.number}"
        relay = self.trial.light_relay(over_tls=self.over_tls)
        relay.begin(from_request(self.number, Act(play=fault.play, reads=fault.reads)))
        async with self.trial.again(self.trial.short, relay) as trial:
            began = time.monotonic()
            self._judge(await caught(self.made(trial.adapter)), what)
            took = time.monotonic() - began
        assert took < self.trial.short.read_s + _PATIENCE_S, f"{what}: took {took:.1f} s"
        assert 1 <= self._tries(relay) <= (1 if self._is_once else 2), f"{what}: times asked"
        told = [each.operation for each in trial.witness.calls]
        assert len(told) == relay.connections, f"{what}: each request is told once"
        if self._is_last:
            # a token that was refused is fetched again
            late, known = set(told[self.number - 1 :]), {self.call.value, *told[: self.number - 1]}
            assert {self.call.value} <= late <= known, f"{what}: told of {late}"

    def _judge(self, ended: object, what: str) -> None:
        """Look at class and reason; what came before the last request may have its own."""
        form = self.trial.stage.form(self.call)
        is_list = form is AnswerForm.LIST and self._is_last
        nothing = self.call in WITHOUT_RESULT or form is AnswerForm.NOTHING
        # whether the fault is as good an answer as any
        enough = self.fault.name == AN_EMPTY_LIST if is_list else self.fault.complete and nothing
        if not isinstance(ended, ProviderError):
            unknown = self.call is PortCall.FIND_PAYOUT and isinstance(ended, Unknown)
            assert unknown or enough, f"{what}: {ended!r}"
            assert not isinstance(ended, Exception), f"{what}: {ended!r}"
        elif self._is_last and not enough:
            kinds = (self.fault.read, Unavailable) if self.call in CHANGES else self.fault.read
            assert isinstance(ended, kinds), f"{what}: raised {ended!r}"
            # half an object is no list first, and no JSON second
            either = is_list and ended.reason in _CONTENT
            allowed = _CONTENT if either else {ended.reason}
            assert self.fault.reason in {"", *allowed}, f"{what}: raised {ended!r}"

    def _tries(self, relay: Relay) -> int:
        """Count how often the bank was asked; of a request that changes something, how often it."""
        since = [(each.method, each.path) for each in relay.seen[self.number - 1 :]]
        if self._is_once and self.fault.reads and since:
            return since.count(since[0])
        return relay.connections - self.number + 1

    @property
    def _is_last(self) -> bool:
        return self.number == len(self.path)

    @property
    def _is_once(self) -> bool:
        """Whether the request changes something, in a call that must not do so twice."""
        asked = self.path[self.number - 1]
        reads = asked.method == "GET" or asked.path == self.trial.stage.token_path
        return self.call in ONCE and not reads


async def caught(made: Awaitable[object]) -> object:
    """Return what a call returned or raised."""
    try:
        return await made
    except Exception as problem:  # noqa: BLE001 - an author's code may raise anything
        return problem


@case("wire.create_payout_by_key", PayoutMethod.PIX, needs={PortCall.CREATE_PAYOUT})
@case("wire.create_payout_by_account", PayoutMethod.BANK_ACCOUNT, needs={PortCall.CREATE_PAYOUT})
async def payout(trial: Trial, method: PayoutMethod) -> None:
    """A payout is sent once, and unknown unless it was certainly not sent."""
    needs_method(trial, method)
    await _money(trial, payouts(trial, method), over_tls=method is trial.method)


@case("wire.create_refund", needs={PortCall.CREATE_REFUND})
async def refund(trial: Trial) -> None:
    """A refund is sent once, and unknown unless it was certainly not sent."""
    await _money(trial, await refunds(trial), over_tls=False)


async def _money(trial: Trial, make: MakeMoneyCall, *, over_tls: bool) -> None:
    """Try every fault at every request of something that moves money."""
    requests, money = await money_path(trial, make())
    attempts = [
        (fault.waits, _Payment(trial, make, money, number, fault, executed, over_tls))
        for number in range(1, requests + 1)
        for fault in FAULTS
        for executed in ((False, True) if number == money and fault.reads else (False,))
    ]
    await _all_of(trial, attempts)


@dataclass(frozen=True, slots=True)
class _Payment:
    """One fault at one request of something that moves money."""

    trial: Trial
    make: MakeMoneyCall
    money: int
    number: int
    fault: WireFault
    executed: bool
    over_tls: bool

    async def __call__(self) -> None:
        """Order it, and look at outcome, requests and books."""
        fault, order = self.fault, self.make()
        what = f"{fault.name} at request {self.number} of {self.money}, executed: {self.executed}"
        relay = self.trial.light_relay(over_tls=self.over_tls)
        act = Act(play=fault.play, reads=fault.reads, reaches_bank=self.executed)
        relay.begin(from_request(self.number, act))
        async with self.trial.again(self.trial.short, relay) as trial:
            outcome = await caught(order.made(trial.adapter, soon()))
        wanted = [order.value] if self.executed or self.number > self.money else []
        assert await trial.paid(order.key) == wanted, f"{what}: {outcome!r}"
        if self.number < self.money:
            assert isinstance(outcome, NotSent), f"{what}: {outcome!r}"
        elif self.number > self.money:
            assert isinstance(outcome, OK), f"{what}: {outcome!r}"
        else:
            assert isinstance(outcome, Unknown), f"{what}: {outcome!r}"
            assert outcome.evidence.bytes_left, f"{what}: it says that no byte left"
            assert fault.reason in {"", outcome.evidence.reason}, f"{what}: {outcome!r}"
            assert trial.witness.calls[-1].bytes_left, f"{what}: it tells that no byte left"
            assert relay.connections == self.money, f"{what}: it was sent once"


@case("wire.read_again", needs={PortCall.GET_BALANCE})
async def read_again(trial: Trial) -> None:
    """A read whose connection was lost is repeated once, and that is told."""
    path = await requests_of(trial, await prepare(trial, PortCall.GET_BALANCE))
    async with trial.again() as fresh:
        fresh.relay.begin(at_request(len(path), Act(play=close)))
        held = await fresh.adapter.get_balance(trial.account)
    assert held.balance.centavos > 0
    assert fresh.witness.retries == ["get_balance"]


@case("wire.deadline", needs={PortCall.CREATE_PAYOUT})
async def deadline(trial: Trial) -> None:
    """After its deadline a payout's money request is never written."""
    money, order = await money_request(trial), payouts(trial)()
    outcome = await order.made(trial.adapter, passed())
    assert [seen for seen in trial.relay.seen if seen.number >= money] == []
    assert await trial.paid(order.key) == []
    assert trial.witness.states == [], "it was held against the bank"
    assert isinstance(outcome, NotSent), outcome
    # Checked in the same step as the write, so after connecting; what comes before may be late.
    told = (outcome.evidence.reason, outcome.evidence.phase)
    assert money > 1 or told == (Reason.DEADLINE_PASSED, Phase.CONNECTED)


@case("wire.connection_refused")
async def connection_refused(trial: Trial) -> None:
    """Where nobody listens nothing is sent, and that is certain."""
    with socket.socket() as bound:
        bound.bind((_HERE, 0))
        await _unreached(trial, _address(trial, bound), {"connect_failed"})


@case("wire.connection_stalled")
async def connection_stalled(trial: Trial) -> None:
    """A connection that is neither taken nor refused sends nothing, and that is certain."""
    with contextlib.ExitStack() as opened:
        listening = opened.enter_context(socket.socket())
        listening.bind((_HERE, 0))
        listening.listen(0)
        for _ in range(4):  # fill the queue: the next one is neither taken nor refused
            waiting = opened.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(listening.getsockname())
        await _unreached(trial, _address(trial, listening), _LATE)


def _address(trial: Trial, bound: socket.socket) -> str:
    """Return a socket's address; some adapters take none without encryption."""
    scheme = "http" if trial.stage.relay_tls is None else "https"
    return f"{scheme}://{_HERE}:{bound.getsockname()[1]}"


@case("wire.tls_refused", close, frozenset())
@case("wire.tls_unanswered", hang, _LATE)
async def unencrypted(trial: Trial, play: Play, reasons: Collection[str]) -> None:
    """A bank that hangs up in the handshake of TLS, or speaks none, is certainly sent nothing."""
    relay = Relay(trial.stage.address)
    relay.begin(from_request(1, Act(play=play, reads=False)))
    async with relay.open():
        await _unreached(trial, f"https://{_HERE}:{relay.port}", reasons)


async def _unreached(trial: Trial, address: str, reasons: Collection[str]) -> None:
    """Make every declared call of a bank that cannot be reached, told for one of some reasons."""
    attempts: list[tuple[bool, Attempt]] = []
    for call in sorted(trial.capabilities.calls - MOVES):
        with contextlib.suppress(NotApplicable):
            made = await prepare(trial, call)
            attempts.append((True, partial(_read_unreached, trial, address, made, reasons)))
    money = [payouts(trial)] if trial.can(PortCall.CREATE_PAYOUT) else []
    if trial.can(PortCall.CREATE_REFUND):
        money.append(await refunds(trial))
    attempts += [(True, partial(_unsent, trial, address, each, reasons)) for each in money]
    await _all_of(trial, attempts)


async def _read_unreached(trial: Trial, address: str, call: Call, reasons: Collection[str]) -> None:
    async with trial.at(address, UNCONNECTED) as away:
        ended = await caught(call(away.adapter))
    assert isinstance(ended, Unreachable), ended
    assert not reasons or ended.reason in reasons, ended
    _unconnected(away.witness)


async def _unsent(
    trial: Trial, address: str, make: MakeMoneyCall, reasons: Collection[str]
) -> None:
    async with trial.at(address, UNCONNECTED) as away:
        outcome = await make().made(away.adapter, far())
    assert isinstance(outcome, NotSent), outcome
    assert not reasons or outcome.evidence.reason in reasons, outcome
    assert not outcome.evidence.bytes_left, outcome
    _unconnected(away.witness)


def _unconnected(witness: Witness) -> None:
    """Look at what the adapter told of its calls."""
    told = {(each.outcome, each.bytes_left) for each in witness.calls}
    assert told, "it tells of no call"
    assert told <= {("connect_error", False), ("timeout", False)}


def needs_method(trial: Trial, method: PayoutMethod) -> None:
    """The case does not apply to an adapter that does not declare the method."""
    declared = method in trial.capabilities.destinations
    applies_if(declared, f"destinations: {method.value} is not declared")
