"""One life: two nodes of real code over one database, a bank, partners, and what befalls them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any

from gateway.accounts.store import StoredAccounts
from gateway.app.build_payouts import build_payouts
from gateway.app.kernel import Kernel, SilentObserver
from gateway.banks.port.capabilities import Repeat
from gateway.config.settings import Payouts as PayoutSettings
from gateway.config.settings import Settings
from gateway.core.account import Account, Environment
from gateway.core.calls import Caller
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.holds import HoldEnds
from gateway.payouts.model import Payout, PayoutRequest, provider_key
from gateway.payouts.reconciler import Reconciler, Work
from gateway.payouts.store import StoredPayouts
from gateway.telemetry.ports import Event
from tests.proofs.simulation.adapter import OnlyBank, SimulatedAdapter
from tests.proofs.simulation.bank import SimulatedBank, Surroundings
from tests.proofs.simulation.decisions import plan_decision
from tests.proofs.simulation.invariants import Answer, Call, Oracle, Truth, Violation
from tests.proofs.simulation.loop import CALL, OWNER, WRITES, Loop, Process
from tests.proofs.simulation.returns import tell
from tests.proofs.simulation.scenario import Scenario
from tests.proofs.simulation.sqlite_inline import Client, Disk, Fault, Slot
from tests.world.kernel import KEYS
from tests.world.payouts import no_stops
from tests.world.people import ACCOUNT, account, caller

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAWN = datetime(2026, 11, 20, 0, 3, tzinfo=UTC)
LATE = datetime(2026, 11, 20, 23, 57, tzinfo=UTC)
LOST = Answer(0, "connection lost")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STOP_S = 60.0
_CROWDED_S = 0.15
"""What the store takes at most where many come at once: time to gather."""
_FAULTS = (Fault.BEFORE, Fault.DURING, Fault.AFTER)


class Counting(SilentObserver):
    def __init__(self, world: World) -> None:
        self.world = world

    def count(self, event: Event, label: str) -> None:
        if event is Event.CAS_LOSS:
            self.world.counts["compare-and-set lost"] += 1
        else:
            self.world.count(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeWorld:
    loop: Loop
    chance: Random
    scenario: Scenario
    slots: tuple[Slot, Slot]
    disk: Disk
    note: Callable[[str], None]


class World:
    """
    Everything of one life.

    Attributes:
        counts: What happened how often.
        look_first: New processes look before they send.
        stopped: No process is to be started.
        outside: The context of what belongs to no process.
        over: The life is over; what its tasks still do is of no interest.
        processes: Every one that was ever started.
    """

    def __init__(self, life_world: LifeWorld) -> None:
        self.life_world, self.loop, self.chance = life_world, life_world.loop, life_world.chance
        self.scenario = life_world.scenario
        self.counts: Counter[str] = Counter()
        self.look_first = False
        self.stopped = False
        self.over = False
        self.outside = copy_context()
        self.processes: list[Process] = []
        self._sleepers: list[asyncio.Future[None]] = []
        self.start = LATE if self.scenario.midnight else DAWN if self.scenario.dawn else NOON
        self.bank = SimulatedBank(self.scenario, self._surroundings())
        truth = Truth(life_world.disk.read, self.bank.may_still_move, self._micros)
        self.oracle = Oracle(self.scenario, truth, self.fail)
        self.nodes = (Node(self, 0), Node(self, 1))

    @property
    def deep(self) -> bool:
        """Orders may be on their way for half a day."""
        return self.scenario.kind is Repeat.IGNORES and self.scenario.slow > 0

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.loop.time())

    def _micros(self) -> int:
        return (self.now() - _EPOCH) // timedelta(microseconds=1)

    def fail(self, rule: str) -> None:
        """Note the first violation; the loop ends with it."""
        self.note(f"VIOLATION {rule}")
        if self.loop.broken is None and not self.over:
            self.loop.broken = Violation(rule)

    def note(self, text: str) -> None:
        self.loop.note(text)
        self.life_world.note(f"{self.now():%d %H:%M:%S.%f} step {self.loop.steps:>6} {text}")

    def count(self, event: str) -> None:
        self.counts[event] += 1
        self.note(f"    ({event})")

    def executed(self, key: str, centavos: int) -> None:
        self.note(f"bank EXECUTES {key[:6]} {centavos}")
        self.counts["executions"] += 1
        self.oracle.executed(key, centavos)

    def wrote(self, key: str, centavos: int) -> None:
        self.note(f"{_owner()} SENDS {key[:6]} {centavos}")
        self.oracle.wrote(key, centavos)

    def committed(self) -> None:
        sleepers, self._sleepers = self._sleepers, []
        for waker in sleepers:
            _wake(waker)
        before = self.oracle.rows
        self.oracle.committed()
        moved = [key for key, row in self.oracle.rows.items() if before.get(key) != row]
        if len(moved) > 1:
            self.counts["commits of several"] += 1
        for key, row in self.oracle.rows.items():
            if key in moved:
                if row.state == "held" and key not in before:
                    self.counts["payouts held"] += 1
                    plan_decision(self, key)
                was = before[key].state if key in before else "-"
                flag = " REVIEW" if row.review else ""
                self.note(f"{_owner()} COMMITS {key[:6]} {was} -> {row.state} {row.attempt}{flag}")

    async def pause_between_turns(self, least_s: float) -> None:
        """Sleep until something is due; the reconciler's own second would be empty turns."""
        await asyncio.sleep(least_s)
        while (wait := self._due_in()) > 0:
            waker: asyncio.Future[None] = self.loop.create_future()
            self._sleepers.append(waker)
            timer = self.loop.call_later(wait, _wake, waker)
            await waker
            timer.cancel()

    def _due_in(self) -> float:
        """Seconds until a payout is due for a look; a week when none is."""
        due = self.oracle.next_check()
        if due is None:
            return 7 * 86400.0
        return (_EPOCH + timedelta(microseconds=due) - self.now()).total_seconds()

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            loop=self.loop,
            chance=self.chance,
            now=self.now,
            executed=self.executed,
            came_back=partial(tell, self),
            counted=self.count,
        )


class EverybodyPays:
    async def has_secret(self, _user_id: str, _payout: Payout) -> bool:
        return False

    async def find(self, _payout: Payout) -> Caller:
        return caller()


class Node:
    """A place where a process of the gateway runs, dies, and is started again."""

    def __init__(self, world: World, index: int) -> None:
        self.world, self.index = world, index
        self.generation = 0
        self.process: Process | None = None
        self.client: Client | None = None
        self._open: list[asyncio.Future[Answer]] = []
        self._serving: list[asyncio.Task[None]] = []
        self._stopping = False

    @property
    def up(self) -> bool:
        return self.process is not None

    def start(self) -> None:
        """Start a process: new tasks, new connections, nothing remembered."""
        world, life_world = self.world, self.world.life_world
        self.generation += 1
        self._stopping = False
        self._serving.clear()
        self.process = Process(f"N{self.index}.{self.generation}")
        self.client = Client(life_world.disk, world.chance)
        self.client.committed = world.committed
        self.client.fault, self.client.latency = self._fault, self._latency
        life_world.slots[self.index].plug(self.client)
        self.context = copy_context()
        self.context.run(OWNER.set, self.process)
        self.context.run(self._assemble)
        world.note(f"{self.process.name} starts{' LOOKING FIRST' if world.look_first else ''}")

    def crash(self) -> None:
        """Die between two steps; callers lose their connections."""
        if self.process is None or self.client is None:
            return
        self.world.note(f"{self.process.name} CRASHES")
        self.world.counts["crashes"] += not self.world.over
        self.process.stopped = True
        self.process = None
        self.client.kill()
        for reply in self._open:
            self.world.loop.call_later(0.01, _settle, reply, LOST, context=self.world.outside)
        self._open.clear()

    def stop(self) -> None:
        """Stop as by SIGTERM: calls are cancelled, following up ends; then die."""
        process = self.process
        if process is None or self._stopping:
            return
        self.world.note(f"{process.name} STOPS")
        self.world.counts["stops"] += 1
        self._stopping = True
        for task in self._serving:
            task.cancel()
        ends = self.world.loop.create_task(self.reconciler.task.stop(), context=self.context)
        self._serving.append(ends)
        self.world.loop.call_later(_STOP_S, self._stopped, process, context=self.world.outside)

    def _stopped(self, process: Process) -> None:
        """Look that it has ended what it had to; a paused one had no chance to."""
        if self.process is not process:
            return
        if not process.stopped and not all(task.done() for task in self._serving):
            self.world.fail("a task does not stop")
        self.crash()

    def pause(self, seconds: float) -> None:
        """Stop the process as SIGSTOP does, and let it go on later."""
        process = self.process
        if process is None or process.stopped:
            return
        self.world.note(f"{process.name} PAUSED for {seconds:.1f} s")
        self.world.counts["pauses"] += 1
        process.stopped = True
        self.world.loop.call_later(seconds, self._resume, process, context=self.world.outside)

    def resume(self) -> None:
        """Let a paused process go on now."""
        if self.process is not None:
            self._resume(self.process)

    def _resume(self, process: Process) -> None:
        if self.process is process and process.stopped:
            self.world.note(f"{process.name} GOES ON")
            self.world.loop.release(process)

    async def ask(self, call: Call, request: PayoutRequest | None) -> Answer:
        """Send a request and wait for the answer; a dead node refuses the connection."""
        world = self.world
        await asyncio.sleep(world.chance.choice((0.0, 0.0, 0.1)))
        if self.process is None or self._stopping:
            return LOST
        reply: asyncio.Future[Answer] = world.loop.create_future()
        self._open.append(reply)
        context = self.context.copy()
        context.run(CALL.set, call)
        serving = world.loop.create_task(self._serve(call, request, reply), context=context)
        self._serving.append(serving)
        return await reply

    async def _serve(
        self, call: Call, request: PayoutRequest | None, reply: asyncio.Future[Answer]
    ) -> None:
        world = self.world
        world.note(f"{_owner()} < {call.kind} {call.key[:6]} {call.centavos}")
        world.oracle.asked(call)
        answer = await self._answer(call, request)
        world.note(f"{_owner()} > {answer.status} {answer.code}")
        world.oracle.answered(call, answer)
        world.counts[f"answer {answer.status}"] += 1
        await asyncio.sleep(world.bank.delay(40.0))
        _settle(reply, answer)

    async def _answer(self, call: Call, request: PayoutRequest | None) -> Answer:
        try:
            if request is None:
                await self.payouts.read(caller(), call.reference)
            else:
                await self.payouts.create(caller(), request)
        except ServiceError as refusal:
            return Answer(refusal.error.status, refusal.error.code)
        except StoreUnavailable:
            return Answer(500, "SVC.SYS.001")
        return Answer(200)

    def _assemble(self) -> None:
        """Put the real parts together as the product's assembly does."""
        world, database = self.world, self.world.life_world.slots[self.index].database
        writing = copy_context()
        writing.run(WRITES.set, True)
        store = writing.run(StoredPayouts, database)
        banks = OnlyBank(SimulatedAdapter(world.bank, world.wrote))
        parts: Any = SimpleNamespace(payouts=store)
        similar_s = 600.0 if world.scenario.similar else 0.0
        above = str(Money(world.scenario.unheld))
        kernel = Kernel(
            settings=Settings(
                payouts=PayoutSettings(
                    look_first=world.look_first,
                    similar_within_s=similar_s,
                    hold_above=above if world.scenario.first_payee else "off",
                )
            ),
            store=parts,
            keys=KEYS,
            now=world.now,
            observer=Counting(world),
            monotonic=world.loop.time,
        )
        self.payouts = build_payouts(kernel, banks, no_stops)
        self.follow_up, self.due = self.payouts.follow_up, StoredFollowUps(database)
        self.payers = EverybodyPays()
        reconciler = Reconciler(
            Work(
                due=self.due,
                find_account=StoredAccounts(database).find,
                follow_up=self.follow_up,
                now=world.now,
                owner=f"n{self.index}.{self.generation}",
                chance=world.chance.random,
                tell=lambda _standing, _at: None,
                sleep=world.pause_between_turns,
                end_hold=HoldEnds(payouts=self.payouts, payers=self.payers).end,  # type: ignore[arg-type]
            )
        )
        reconciler.task.start()
        assert reconciler.task._task is not None
        self.reconciler = reconciler
        reconciler.task._task.add_done_callback(self._died)

    def _died(self, _task: asyncio.Task[None]) -> None:
        if not self.world.over and not self._stopping:
            self.world.fail("the reconciler ended by itself")

    def _fault(self, word: str) -> Fault | None:
        world = self.world
        if world.over or not world.bank.may(world.scenario.store_faults, "store fault"):
            return None
        fault = world.chance.choice(_FAULTS)
        world.note(f"    {word} of {_owner()} fails {fault.value}")
        return fault

    def _latency(self) -> float:
        world = self.world
        if world.over or not world.bank.may(world.scenario.store_slow, "store slow"):
            return world.chance.random() * _CROWDED_S if world.scenario.crowd else 0.0
        return world.chance.random() * 12.0


def call_of(kind: str, reference: str, centavos: int) -> Call:
    key = provider_key(Environment.SANDBOX, ACCOUNT, reference)
    return Call(kind=kind, key=key, reference=reference, centavos=centavos)


def holder() -> Account:
    return account()


def _owner() -> str:
    owner = OWNER.get()
    return "-" if owner is None else owner.name


def _wake(waker: asyncio.Future[None]) -> None:
    if not waker.done():
        waker.set_result(None)


def _settle(reply: asyncio.Future[Answer], answer: Answer) -> None:
    if not reply.done():
        reply.set_result(answer)
