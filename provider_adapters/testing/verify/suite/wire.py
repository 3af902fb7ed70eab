"""
Cases about the wire: every fault at every request of every call.

A read fails with one of the port's errors, in time. What moves money is proven unsent before
its money request, unknown and sent once at it, and accepted after it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    NotSent,
    Phase,
    ProviderError,
    Settled,
    Unavailable,
    Unknown,
)
from provider_adapters.testing.verify.cases import Case, CaseFailed, add, case
from provider_adapters.testing.verify.relay import Act, Relay, Seen, at_request, from_request
from provider_adapters.testing.verify.stage import AnswerForm, NotApplicable
from provider_adapters.testing.verify.suite.calls import (
    CHANGES,
    FEW_AT_ONCE,
    ONCE,
    PREPARED,
    WITHOUT_RESULT,
    Call,
    MakeMoneyCall,
    MoneyCall,
    Ready,
    payouts,
    refunds,
)
from provider_adapters.testing.verify.suite.faults import AN_EMPTY_LIST, FAULTS, WireFault, close
from provider_adapters.testing.verify.trial import Harness, Trial, far, passed, soon

_AT_ONCE: Final = 4
_WAITING_AT_ONCE: Final = 64
"""Attempts at once; what waits for a time limit costs no processor."""
_WAITING_WITH_TLS: Final = 16
"""Handshakes at once would keep one another from ending in time."""
_MOST_FAILED: Final = 10
"""So many are no accident: the rest is left out."""
_PATIENCE_S: Final = 10.0
"""Bank and adapter share one loop on a machine that may be busy; what hangs takes longer."""
_OVER_TLS: Final = (PortCall.GET_BALANCE, PortCall.GET_CHARGE)
"""The first that is declared meets its faults in TLS, as payouts do: it is the same for all."""


@dataclass(frozen=True, slots=True)
class Path:
    """
    The requests that a call makes when nothing goes wrong.

    Attributes:
        money: The number of the request that moves the money; 0 for none.
        over_tls: Every attempt goes over TLS, where the bank speaks it.
    """

    requests: Sequence[Seen]
    money: int = 0
    over_tls: bool = False


Attempt = Callable[[], Awaitable[None]]
CONTENT: Final = {str(Reason.NOT_JSON), str(Reason.WRONG_SHAPE)}


async def all_of(
    trial: Trial, attempts: Iterable[tuple[bool, Attempt]], most: int = _WAITING_AT_ONCE
) -> None:
    """
    Make every attempt, those that wait many at once; ``most`` if the bank has room for so many.

    One that fails is made once more when the others have ended: on a machine that is busy a
    time limit may have come before the fault.
    """
    lanes, failed = _lanes(trial, most), list[Attempt]()

    async def made(lane: asyncio.Semaphore, attempt: Attempt) -> None:
        async with lane:
            if len(failed) > _MOST_FAILED:
                return
            try:
                await attempt()
            except CaseFailed:
                failed.append(attempt)

    async with asyncio.TaskGroup() as together:
        for waits, attempt in attempts:
            together.create_task(made(lanes[waits], attempt))
    for attempt in failed:
        await attempt()


def _lanes(trial: Trial, most: int) -> Mapping[bool, asyncio.Semaphore]:
    """Return what bounds the attempts that wait, and those that do not."""
    if most < _AT_ONCE:
        one = asyncio.Semaphore(most)
        return {True: one, False: one}
    waiting = most if trial.stage.relay_tls is None else _WAITING_WITH_TLS
    return {True: asyncio.Semaphore(waiting), False: asyncio.Semaphore(_AT_ONCE)}


def _read_case(call: PortCall) -> Case:
    """Make the case of a call that moves no money."""

    async def run(trial: Trial) -> None:
        async with trial.adapter(trial.stage.address) as clean:
            prepared = await PREPARED[call](Ready(trial, clean))
            first = next((each for each in _OVER_TLS if each in trial.capabilities.calls), None)
            path = dataclasses.replace(await _path(trial, prepared), over_tls=call is first)
            attempts = [
                (fault.waits, _Read(trial, call, prepared, path, number, fault))
                for number in range(1, len(path.requests) + 1)
                for fault in FAULTS
            ]
            await all_of(trial, attempts, FEW_AT_ONCE.get(call, _WAITING_AT_ONCE))

    title = f"{call.value} fails in one known way, whatever breaks at each of its requests."
    return Case(id=f"wire.{call.value}", title=title, needs=frozenset({call}), run=run)


async def _path(trial: Trial, call: Call) -> Path:
    async with trial.harness() as harness:
        await call(harness.adapter)
        trial.expect(harness.relay.seen, "the bank was asked nothing")
        return Path(tuple(harness.relay.seen))


@dataclass(frozen=True, slots=True)
class _Read:
    """One fault at one request of a call."""

    trial: Trial
    call: PortCall
    made: Call
    path: Path
    number: int
    fault: WireFault

    async def __call__(self) -> None:
        """Make the call, and look at what it raises."""
        act = Act(play=self.fault.play, reads=self.fault.reads)
        relay = self.trial.light_relay(over_tls=self.path.over_tls)
        async with self.trial.harness(self.trial.short, relay=relay) as harness:
            harness.relay.begin(from_request(self.number, act))
            began = time.monotonic()
            failure = await self._failure(harness.adapter)
            took = time.monotonic() - began
            tries = self._tries(harness.relay)
        what = f"{self.fault.name} at request {self.number} of {self.call.value}"
        if failure is not None:
            self._judge(failure, what)
        most = 1 if self._is_once else 2
        self.trial.expect(1 <= tries <= most, f"{what}: the bank was asked {tries} times")
        longest = self.trial.short.read_s + _PATIENCE_S
        self.trial.expect(took < longest, f"{what}: took {took:.1f} s")
        self._told(harness, what)

    def _tries(self, relay: Relay) -> int:
        """Count how often the bank was asked; of a request that changes something, how often it."""
        since = relay.seen[self.number - 1 :]
        if self._is_once and self.fault.reads and since:
            return sum(
                (each.method, each.path) == (since[0].method, since[0].path) for each in since
            )
        return relay.connections - self.number + 1

    def _told(self, harness: Harness, what: str) -> None:
        """Look at what the adapter told of its requests: each once, the last by this name."""
        told, asked = harness.witness.calls, harness.relay.connections
        self.trial.expect(len(told) == asked, f"{what}: asked {asked} times, told of {len(told)}")
        if self._is_last:
            names = {each.operation for each in told[self.number - 1 :]}
            renewed = names - {self.call.value, *self._earlier(harness)}
            self.trial.expect(not renewed, f"{what}: told of {renewed}")
            self.trial.expect(self.call.value in names, f"{what}: told of {names}")

    def _earlier(self, harness: Harness) -> set[str]:
        """Name what came before: a token that was refused is fetched again."""
        return {each.operation for each in harness.witness.calls[: self.number - 1]}

    @property
    def _is_last(self) -> bool:
        return self.number == len(self.path.requests)

    @property
    def _is_once(self) -> bool:
        """Whether the request changes something, in a call that must not do so twice."""
        asked = self.path.requests[self.number - 1]
        reads = asked.method == "GET" or asked.path == self.trial.stage.token_path
        return self.call in ONCE and not reads

    @property
    def _is_enough(self) -> bool:
        """Whether the fault is as good an answer as any."""
        if self._form is AnswerForm.LIST and self._is_last:
            return self.fault.name == AN_EMPTY_LIST
        nothing = self.call in WITHOUT_RESULT or self._form is AnswerForm.NOTHING
        return self.fault.complete and nothing

    @property
    def _form(self) -> AnswerForm:
        return self.trial.stage.form(self.call)

    async def _failure(self, adapter: EveryCall) -> ProviderError | None:
        """Return what the call raised; None where an answer may be as good as any."""
        what = f"{self.fault.name} at request {self.number} of {self.call.value}"
        try:
            answered = await self.made(adapter)
        except ProviderError as failure:
            return failure
        except Exception as problem:
            message = f"{what}: raised {type(problem).__name__}, which is no ProviderError"
            raise CaseFailed(message) from problem
        if self.call is PortCall.FIND_PAYOUT and isinstance(answered, Unknown):
            return None
        if self._is_enough:
            return None
        message = f"{what}: answered {answered!r}"
        raise CaseFailed(message)

    def _judge(self, failure: ProviderError, what: str) -> None:
        """Look at class and reason; what came before the last request may have its own."""
        if not self._is_last or self._is_enough:
            return
        kinds = (self.fault.read, Unavailable) if self.call in CHANGES else self.fault.read
        self.trial.expect(isinstance(failure, kinds), f"{what}: raised {failure!r}")
        told = {failure.reason}
        if self._form is AnswerForm.LIST and told & CONTENT:
            told = CONTENT  # half an object is no list first, and no JSON second
        right = self.fault.reason in told or not self.fault.reason
        self.trial.expect(right, f"{what}: the reason is {failure.reason!r}")


async def _money(trial: Trial, make: MakeMoneyCall, *, over_tls: bool = False) -> None:
    """Try every fault at every request of something that moves money."""
    path = dataclasses.replace(await money_path(trial, make()), over_tls=over_tls)
    attempts = [
        (fault.waits, _Payment(trial, make, path, number, fault, reaches_bank))
        for number in range(1, len(path.requests) + 1)
        for fault in FAULTS
        for reaches_bank in ((False, True) if number == path.money and fault.reads else (False,))
    ]
    await all_of(trial, attempts)


async def money_path(trial: Trial, order: MoneyCall) -> Path:
    """Find out which request moves the money: the one after which the books say so."""
    moved: list[int] = []

    async def after(seen: Seen) -> None:
        if not moved and await trial.stage.executions(order.key):
            moved.append(seen.number)

    async with trial.harness() as harness:
        harness.relay.after = after
        outcome = await order.made(harness.adapter, far())
        requests = tuple(harness.relay.seen)
    accepted = isinstance(outcome, Accepted | Settled)
    trial.expect(accepted, f"without a fault it is answered by {outcome!r}")
    paid = list(await trial.stage.executions(order.key))
    trial.expect(paid == [order.value], f"without a fault the bank paid {paid}")
    trial.expect(moved, "no request moved the money")
    return Path(requests, moved[0])


@dataclass(frozen=True, slots=True)
class _Payment:
    """One fault at one request of something that moves money."""

    trial: Trial
    make: MakeMoneyCall
    path: Path
    number: int
    fault: WireFault
    reaches_bank: bool

    async def __call__(self) -> None:
        """Order it, and look at outcome, requests and books."""
        act = Act(play=self.fault.play, reads=self.fault.reads, reaches_bank=self.reaches_bank)
        order = self.make()
        relay = self.trial.light_relay(over_tls=self.path.over_tls)
        async with self.trial.harness(self.trial.short, relay=relay) as harness:
            harness.relay.begin(from_request(self.number, act))
            try:
                outcome = await order.made(harness.adapter, soon())
            except Exception as problem:
                message = f"{self._what}: raised {problem!r}"
                raise CaseFailed(message) from problem
        paid = list(await self.trial.stage.executions(order.key))
        self._judge(outcome, harness)
        wanted = [order.value] if self._moves else []
        self.trial.expect(paid == wanted, f"{self._what}: the bank paid {paid}")

    @property
    def _what(self) -> str:
        reached = ", which the bank executed" if self.reaches_bank else ""
        return f"{self.fault.name} at request {self.number}{reached}"

    @property
    def _moves(self) -> bool:
        return self.reaches_bank or self.number > self.path.money

    def _judge(self, outcome: object, harness: Harness) -> None:
        expect, money = self.trial.expect, self.path.money
        if self.number < money:
            expect(isinstance(outcome, NotSent), f"{self._what}, before the money: {outcome!r}")
        elif self.number > money:
            known = isinstance(outcome, Accepted | Settled)
            expect(known, f"{self._what}, after the money: {outcome!r}")
        else:
            expect(isinstance(outcome, Unknown), f"{self._what}, which is the money: {outcome!r}")
            if isinstance(outcome, Unknown):
                expect(outcome.evidence.bytes_left, f"{self._what}: it says that no byte left")
                right = outcome.evidence.reason == self.fault.reason or not self.fault.reason
                expect(right, f"{self._what}: the reason is {outcome.evidence.reason!r}")
            last = harness.witness.calls[-1]
            expect(last.bytes_left, f"{self._what}: it tells that no byte of the last call left")
            times = harness.relay.connections - money + 1
            expect(times == 1, f"{self._what}: it was sent {times} times")


@case("wire.create_payout_by_key", needs={PortCall.CREATE_PAYOUT})
async def payout_by_key(trial: Trial) -> None:
    """A payout by key is sent once, and unknown unless it was certainly not sent."""
    await _payouts(trial, PayoutMethod.PIX)


@case("wire.create_payout_by_account", needs={PortCall.CREATE_PAYOUT})
async def payout_by_account(trial: Trial) -> None:
    """A payout by account is sent once, and unknown unless it was certainly not sent."""
    await _payouts(trial, PayoutMethod.BANK_ACCOUNT)


async def _payouts(trial: Trial, method: PayoutMethod) -> None:
    if method not in trial.capabilities.destinations:
        message = f"destinations: {method.value} is not declared"
        raise NotApplicable(message)
    await _money(trial, payouts(trial, method), over_tls=method is trial.method)


@case("wire.create_refund", needs={PortCall.CREATE_REFUND})
async def refund(trial: Trial) -> None:
    """A refund is sent once, and unknown unless it was certainly not sent."""
    await _money(trial, await refunds(trial))


@case("wire.read_again", needs={PortCall.GET_BALANCE})
async def read_again(trial: Trial) -> None:
    """A read whose connection was lost is repeated once, and that is told."""
    async with trial.adapter(trial.stage.address) as clean:
        path = await _path(trial, await PREPARED[PortCall.GET_BALANCE](Ready(trial, clean)))
    async with trial.harness() as harness:
        harness.relay.begin(at_request(len(path.requests), Act(play=close)))
        held = await harness.adapter.get_balance(trial.account)
    trial.expect(held.balance.centavos > 0, f"the second answer is told as {held!r}")
    retries = harness.witness.retries
    trial.expect(retries == ["get_balance"], f"it tells of the repetitions {retries}")


@case("wire.deadline", needs={PortCall.CREATE_PAYOUT})
async def deadline(trial: Trial) -> None:
    """After its deadline a payout's money request is never written."""
    path = await money_path(trial, payouts(trial, trial.method)())
    order = payouts(trial, trial.method)()
    async with trial.harness() as harness:
        outcome = await order.made(harness.adapter, passed())
    asked = [seen for seen in harness.relay.seen if seen.number >= path.money]
    trial.expect(not asked, "its money request was written")
    trial.expect(not await trial.stage.executions(order.key), "the bank paid")
    states = harness.witness.states
    trial.expect(not states, f"it was held against the bank: {states}")
    if not isinstance(outcome, NotSent):
        message = f"it was answered by {outcome!r}"
        raise CaseFailed(message)
    # Checked in the same step as the write, so after connecting; what comes before may be late.
    wanted = (Reason.DEADLINE_PASSED, Phase.CONNECTED)
    found = (outcome.evidence.reason, outcome.evidence.phase)
    trial.expect(found == wanted or path.money > 1, f"the evidence is {outcome.evidence!r}")


for _call in PREPARED:
    add(_read_case(_call))
