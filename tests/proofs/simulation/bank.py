"""A bank at the far end of a network that loses, delays and repeats, and the adapter to it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from msgspec import structs

from gateway.banks.port.capabilities import Repeat
from gateway.banks.port.charges import Party
from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import (
    Accepted,
    Evidence,
    Outcome,
    Phase,
    PixReturn,
    Rejected,
    Settled,
)
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.money import Money
from tests.proofs.simulation.scenario import Scenario

QUIET = timedelta(minutes=10)
QUIET_WINDOW = timedelta(hours=13)
_WINDOW_S = 12 * 3600.0
_LATEST_S = 240.0
_HIDDEN_S = 120.0
SAID = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="answered", http_status=200)


@dataclass(eq=False, slots=True)
class Message:
    """
    An order on its way.

    Attributes:
        copies: How many have not arrived; each carries the same end-to-end id.
        said: What the first that was decided was answered.
    """

    order: PayoutOrder
    written_at: float
    reply: asyncio.Future[str]
    copies: int = 0
    said: str = ""


@dataclass(eq=False, slots=True)
class Record:
    """
    What the bank keeps of an order.

    Attributes:
        ends_at: When it settles or fails; until then it is accepted.
        shown_at: From when a look-up shows it.
        held_until: The bank's deadline, while it analyses the order.
        back: What came back of it.
    """

    order: PayoutOrder
    id: str
    fate: str
    ends_at: float
    shown_at: float
    settled_at: datetime
    paid: Money
    held_until: datetime | None = None
    back: list[PixReturn] = field(default_factory=list)


@dataclass(slots=True)
class Ledger:
    """Payouts by key, and the orders that have not arrived yet."""

    records: defaultdict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    flying: defaultdict[str, list[Message]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """
    The environment of a bank.

    Attributes:
        executed: Told key and centavos whenever money moves.
        came_back: Told the key of a payout of which something came back.
        counted: Told the name of every fault that happens.
    """

    loop: asyncio.AbstractEventLoop
    chance: Random
    now: Callable[[], datetime]
    executed: Callable[[str, int], None]
    came_back: Callable[[str], None]
    counted: Callable[[str], None]


class SimulatedBank:
    """Executes what arrives, once or as its kind allows, and answers as chance has it."""

    def __init__(self, scenario: Scenario, around: Surroundings) -> None:
        self.scenario, self.around = scenario, around
        self.ledger = Ledger()
        self.calm = False
        self._outside = copy_context()

    def may(self, share: float, fault: str) -> bool:
        """Draw whether something goes wrong; nothing does once it is calm."""
        if self.calm or not share or self.around.chance.random() >= share:
            return False
        self.around.counted(fault)
        return True

    def delay(self, latest: float) -> float:
        """Draw how long a message travels."""
        late = self.may(self.scenario.slow, "late")
        # in tenths: what happens at the same instant may happen in any order
        return round(self.around.chance.random() * (latest if late else 0.3), 1)

    def send(self, order: PayoutOrder) -> asyncio.Future[str]:
        """Put an order on the wire; the answer comes, or does not."""
        around = self.around
        message = Message(order, around.loop.time(), around.loop.create_future())
        latest = _WINDOW_S * 1.2 if self.scenario.kind is Repeat.IGNORES else _LATEST_S
        copies = 1 + self.may(self.scenario.double, "doubled")
        for _ in range(copies):
            if not self.may(self.scenario.loss, "order lost"):
                message.copies += 1
                self._later(self.delay(latest), self._arrive, message)
        if message.copies:
            self.ledger.flying[order.provider_key].append(message)
        return message.reply

    def may_still_move(self, key: str) -> bool:
        """Say whether an order is on its way that could move money."""
        return any(not self._too_old(message) for message in self.ledger.flying[key])

    def known(self, key: str) -> Record | None:
        """The order of a key that a look-up shows now; one that was paid before any other."""
        now = self.around.loop.time()
        shown = [each for each in self.ledger.records[key] if each.shown_at <= now]
        paid = [each for each in shown if each.fate == "paid"]
        return next(iter(paid or shown), None)

    def says(self, record: Record) -> Outcome:
        if self.around.loop.time() < record.ends_at:
            said = Accepted(evidence=SAID, provider_id=record.id, e2e_id=f"E{record.id}")
            return replace(said, held_until=record.held_until)
        if record.fate == "paid":
            return Settled(
                evidence=SAID,
                value=record.paid,
                provider_id=record.id,
                e2e_id=f"E{record.id}",
                settled_at=record.settled_at,
                returns=tuple(record.back),
            )
        code = FailureCode.RETURNED if record.fate == "fails" else FailureCode.REJECTED
        return Rejected(evidence=SAID, failure=code)

    def statement(self) -> list[Entry]:
        """Every movement that is shown by now."""
        now = self.around.loop.time()
        moved = (each for kept in self.ledger.records.values() for each in kept)
        shown = [
            record
            for record in moved
            if record.fate == "paid" and max(record.ends_at, record.shown_at) <= now
        ]
        back = [self._credit(record, each) for record in shown for each in record.back]
        return back + [self._entry(record) for record in shown]

    def debits(self) -> dict[str, list[tuple[str, str]]]:
        """What the statement calls each debit that it shows, by our key."""
        now = self.around.loop.time()
        return {
            key: [
                (entry.provider_key, entry.e2e_id)
                for record in some
                if record.fate == "paid" and max(record.ends_at, record.shown_at) <= now
                for entry in [self._entry(record)]
            ]
            for key, some in self.ledger.records.items()
        }

    def hold_of(self, key: str) -> datetime | None:
        return self.ledger.records[key][0].held_until

    def returns(self) -> dict[str, list[PixReturn]]:
        """What came back, by key."""
        kept = self.ledger.records.items()
        back = {key: [each for record in some for each in record.back] for key, some in kept}
        return {key: some for key, some in back.items() if some}

    def _later(self, delay_s: float, work: Callable[..., None], *args: object) -> None:
        """Do something out in the network, which no process's death or pause holds up."""
        self.around.loop.call_later(delay_s, work, *args, context=self._outside)

    def _entry(self, record: Record) -> Entry:
        return Entry(
            provider_id=record.id,
            e2e_id=f"E{record.id}",
            direction=Direction.DEBIT,
            is_pix=True,
            value=record.paid,
            description="",
            counterparty=Party(name="", tax_number=""),
            created_at=record.settled_at,
            provider_key=record.order.provider_key if self.scenario.statement_keys else "",
        )

    def _credit(self, record: Record, back: PixReturn) -> Entry:
        return structs.replace(
            self._entry(record),
            e2e_id=back.id,
            direction=Direction.CREDIT,
            kind=MovementKind.PIX_RETURN,
            value=back.value,
            created_at=back.at,
        )

    def _give_back(self, record: Record, centavos: int) -> None:
        """Let a part of a settled payout come back, and tell of it."""
        number = sum(map(len, self.returns().values()))
        at = self.around.now()
        record.back.append(PixReturn(id=f"D{number:031}", value=Money(centavos), at=at))
        self.around.counted("came back")
        self.around.came_back(record.order.provider_key)

    def _too_old(self, message: Message) -> bool:
        """An end-to-end id is good for twelve hours; only banks that ignore our key rest on it."""
        age = self.around.loop.time() - message.written_at
        return self.scenario.kind is Repeat.IGNORES and age > _WINDOW_S

    def _arrive(self, message: Message) -> None:
        message.copies -= 1
        if not message.copies:
            self.ledger.flying[message.order.provider_key].remove(message)
        reply = self._answer(message)
        if self.may(self.scenario.loss, "answer lost"):
            return
        self._later(self.delay(60.0), _tell, message.reply, reply)

    def _answer(self, message: Message) -> str:
        records = self.ledger.records[message.order.provider_key]
        if self._too_old(message):
            return "rejected"
        if records and self.scenario.kind is Repeat.SAME_ANSWER:
            return "rejected" if records[0].fate == "rejected" else "accepted"
        if records and self.scenario.kind is Repeat.REFUSES:
            return "duplicate"
        message.said = message.said or self._take(message)
        return message.said

    def _take(self, message: Message) -> str:
        """Decide an order's fate; nothing said is a server error with nothing done."""
        if self.may(self.scenario.bank_errors / 2, "error, nothing done"):
            return ""
        if self.may(self.scenario.rejects, "rejected"):
            self._keep(message, "rejected", 0.0)
            return self.around.chance.choice(("rejected", "forbidden"))
        held_s = 3600.0 if self.may(self.scenario.holds, "held") else 0.0
        if self.may(self.scenario.fails_late, "fails later"):
            self._keep(message, "fails", self.around.chance.random() * (held_s or 60), held_s)
            return "held" if held_s else "accepted"
        settles = self.around.chance.choice((0.0, 1.0, 90.0)) * self.around.chance.random()
        settles = held_s * self.around.chance.random() if held_s else settles
        record = self._keep(message, "paid", settles, held_s)
        self.around.executed(message.order.provider_key, message.order.value.centavos)
        if self.may(self.scenario.returns, "comes back"):
            self._plan_returns(record, settles)
        if self.may(self.scenario.bank_errors, "error, executed"):
            return self.around.chance.choice(("error", "malformed"))
        if held_s:
            return "held"
        return "settled" if settles == 0 and record.paid == message.order.value else "accepted"

    def _plan_returns(self, record: Record, settles: float) -> None:
        """Let it come back in one part or two, some time after it settles."""
        whole = record.paid.centavos
        first = self.around.chance.choice((whole, 1 + int(self.around.chance.random() * whole)))
        for centavos in (min(first, whole), whole - min(first, whole)):
            if centavos:
                after = settles + round(self.around.chance.random() * 600, 1)
                self._later(after, self._give_back, record, centavos)

    def _keep(self, message: Message, fate: str, ends_in: float, held_s: float = 0.0) -> Record:
        hidden = self.around.chance.random() * _HIDDEN_S
        now = self.around.loop.time()
        value = message.order.value
        wrong = fate == "paid" and self.may(self.scenario.mismatch, "another amount")
        record = Record(
            order=message.order,
            id=_id(message),
            fate=fate,
            ends_at=now + ends_in,
            shown_at=now + (hidden if self.may(self.scenario.hidden, "hidden") else 0.0),
            settled_at=self.around.now() + timedelta(seconds=ends_in),
            paid=Money(value.centavos - 1) if wrong else value,
            held_until=self.around.now() + timedelta(seconds=held_s) if held_s else None,
        )
        if fate == "rejected" and self.scenario.kind is not Repeat.SAME_ANSWER:
            return record
        self.ledger.records[message.order.provider_key].append(record)
        return record


def _id(message: Message) -> str:
    return f"{message.order.provider_key[:8]}-{message.written_at:.6f}"


def _tell(reply: asyncio.Future[str], said: str) -> None:
    if not reply.done():
        reply.set_result(said)
