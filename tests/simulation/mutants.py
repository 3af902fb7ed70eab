"""
The rules of payouts, each one removed: what is left must be caught.

A mutant replaces a part of the code under test for as long as a test runs; the product knows
nothing of it. Beside it stands the kind of life in which the rule is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import delete, insert, update

from gateway.domain import errors
from gateway.domain.calls import Caller
from gateway.domain.clocks import Deadline
from gateway.domain.errors import ServiceError
from gateway.domain.payouts import FailureCode, Payout, PayoutOrder, PayoutRequest, PayoutState
from gateway.domain.providers import NotSent, Outcome, Rejected, Repeat
from gateway.domain.stores import Attempt, Change
from gateway.operations import payouts as operation
from gateway.operations.followup import FollowUp
from gateway.operations.payouts import Payouts
from gateway.store import payouts as stored
from gateway.store.attempts import attempt_row
from gateway.store.payout_rows import key_columns, payout_row, step_columns
from gateway.store.payouts import StoredPayouts
from gateway.store.tables import attempts
from gateway.store.tables import payouts as table
from tests.simulation.adapter import SimulatedAdapter
from tests.simulation.bank import SAID
from tests.simulation.scenario import Scenario

_BUSY = Scenario(
    kind=Repeat.IGNORES, loss=0.2, bank_errors=0.3, references=1, partners=2, posts=4, crashes=2
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """
    A rule, and the code without it.

    Attributes:
        owner, part, instead: What is replaced where, and by what.
        life: Where it bites.
        breaks: Invariants of which at least one is broken; the rule's consequences.
        more: Further replacements it needs to run at all.
    """

    rule: str
    says: str
    owner: object
    part: str
    instead: object
    life: Scenario
    breaks: tuple[str, ...]
    more: tuple[tuple[object, str, object], ...] = ()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Replace, and put back."""
        places = ((self.owner, self.part, self.instead), *self.more)
        kept = [(owner, part, getattr(owner, part)) for owner, part, _ in places]
        for owner, part, instead in places:
            setattr(owner, part, instead)
        try:
            yield
        finally:
            for owner, part, original in kept:
                setattr(owner, part, original)


async def _send_before_storing(self: Payouts, caller: Caller, request: PayoutRequest) -> Payout:
    found = await self.store.find(caller.account.id, request.reference)
    if found is not None:
        return await self._repeat(caller, request, found)
    bank = self._admit(caller.account, request)
    intent, attempt = self._intent(caller, request, bank)
    outcome = await self._ask(intent, bank, Deadline(self._clock() + 20, self._clock))
    await self._add(intent, attempt)
    return operation._answer(intent, outcome, recorded=await self._record(intent, outcome))


async def _read_then_insert(self: StoredPayouts, payout: Payout, attempt: Attempt) -> Payout | None:
    found = await self.find(payout.account_id, payout.reference)
    if found is not None:
        return found
    key = key_columns(payout.account_id, payout.reference)
    async with self._database.writing() as connection:
        for each in (attempts, table):
            await connection.execute(delete(each).where(*stored._is(each, key)))
        await connection.execute(insert(table), payout_row(payout))
        await connection.execute(insert(attempts), key | attempt_row(attempt))
    return None


def _resending(*states: PayoutState) -> Callable[..., object]:
    """A retry that meets one of the states takes it for not sent."""
    original = Payouts._repeat

    async def repeat(
        self: Payouts, caller: Caller, request: PayoutRequest, found: Payout
    ) -> Payout:
        if found.state in states and found.fingerprint == request.fingerprint():
            await self.store.record(_unsent(found))
            found = await self.store.find(found.account_id, found.reference) or found
        return await original(self, caller, request, found)

    return repeat


def _unsent(found: Payout) -> Change:
    return Change(
        account_id=found.account_id,
        reference=found.reference,
        attempt=found.attempt,
        before=frozenset({found.state}),
        after=PayoutState.NOT_SENT,
        at=found.updated_at,
    )


def _absent_at_once() -> Callable[..., object]:
    original = FollowUp._absent
    ages = timedelta(days=100)
    return lambda self, payout, bank, asked_at: original(self, payout, bank, asked_at + ages)


def _read_with(**instead: Callable[..., Outcome]) -> Callable[..., object]:
    original = SimulatedAdapter.read

    def read(self: SimulatedAdapter, said: str, order: PayoutOrder) -> Outcome:
        return instead[said](self, order) if said in instead else original(self, said, order)

    return read


def _refusal(*_any: object) -> Outcome:
    return Rejected(evidence=SAID, failure=FailureCode.REJECTED)


def _told_unrecorded() -> Callable[..., object]:
    original = operation._answer

    def answer(payout: Payout, outcome: Outcome, **_recorded: bool) -> Payout:
        return original(payout, outcome, recorded=True)

    return answer


def _step_blindly(change: Change) -> object:
    key = key_columns(change.account_id, change.reference)
    return update(table).where(*stored._is(table, key)).values(step_columns(change))


async def _never_seen(_payout: Payout, _bank: object) -> None:
    return None


def _day_ends_unasked() -> Callable[..., object]:
    original = FollowUp._end_of_day
    return lambda self, payout: original(replace(self, look_first=False), payout)


def _date_first() -> Callable[..., object]:
    original = Payouts.create

    async def create(self: Payouts, caller: Caller, request: PayoutRequest) -> Payout:
        if request.date != self.terms.now().date():
            raise ServiceError(errors.PAYOUT_DATE_NOT_TODAY, "not_today")
        return await original(self, caller, request)

    return create


def _absent_and_again() -> Callable[..., object]:
    original = FollowUp._absent

    def absent(self: FollowUp, *args: object) -> Change | None:
        change = original(self, *args)  # type: ignore[arg-type]
        if change is None:
            return None
        return replace(change, after=PayoutState.NOT_SENT, failure=None)

    return absent


def _look_and_send() -> Callable[..., object]:
    original = FollowUp._ask

    async def ask(self: FollowUp, payout: Payout, *rest: object) -> Payout:
        found = await original(self, payout, *rest)  # type: ignore[arg-type]
        bank = self.banks.of(rest[0])  # type: ignore[arg-type]
        if found.state is PayoutState.UNKNOWN and bank is not None:
            far = Deadline(1e9, lambda: 0.0)
            await bank.adapter.create_payout(bank.account, found.order(), far)
        return found

    return ask


MUTANTS = (
    Mutant(
        rule="R1",
        says="the intent is committed before the first byte",
        owner=Payouts,
        part="create",
        instead=_send_before_storing,
        life=_BUSY,
        breaks=("I1", "I2"),
    ),
    Mutant(
        rule="R2",
        says="one atomic insert, never read then insert",
        owner=StoredPayouts,
        part="add",
        instead=_read_then_insert,
        life=replace(_BUSY, partners=3, crashes=0),
        breaks=("I1", "I2", "I10"),
    ),
    Mutant(
        rule="R3",
        says="what is unknown is not sent again",
        owner=Payouts,
        part="_repeat",
        instead=_resending(PayoutState.UNKNOWN),
        life=_BUSY,
        breaks=("I1", "I4", "I10"),
    ),
    Mutant(
        rule="R4",
        says="not found counts after the quiet period only",
        owner=FollowUp,
        part="_absent",
        instead=_absent_at_once(),
        life=replace(_BUSY, slow=0.5, hidden=0.8),
        breaks=("I1", "I4", "I10"),
    ),
    Mutant(
        rule="R5",
        says="a duplicate is ours",
        owner=SimulatedAdapter,
        part="read",
        instead=_read_with(duplicate=_refusal),
        life=replace(_BUSY, kind=Repeat.REFUSES, double=0.8),
        breaks=("I4", "I5"),
    ),
    Mutant(
        rule="R6 silence",
        says="silence is no failure",
        owner=SimulatedAdapter,
        part="silence",
        instead=lambda _self: NotSent(SAID),
        life=_BUSY,
        breaks=("I1", "I4", "I10", "I9"),
    ),
    Mutant(
        rule="R6 error",
        says="a server error is no refusal",
        owner=SimulatedAdapter,
        part="unclear",
        instead=_refusal,
        life=replace(_BUSY, kind=Repeat.SAME_ANSWER),
        breaks=("I4", "I5"),
    ),
    Mutant(
        rule="R7",
        says="a refusal is told once it is stored",
        owner=operation,
        part="_answer",
        instead=_told_unrecorded(),
        life=replace(_BUSY, rejects=0.6, store_faults=0.1),
        breaks=("I5",),
    ),
    Mutant(
        rule="R8",
        says="outcomes are written by compare-and-set",
        owner=stored,
        part="_step",
        instead=_step_blindly,
        more=((stored, "_check", lambda _change: None),),
        life=replace(_BUSY, slow=0.4, pauses=3, kind=Repeat.SAME_ANSWER),
        breaks=("I7", "I4", "I10"),
    ),
    Mutant(
        rule="R9",
        says="nobody takes over somebody's send",
        owner=Payouts,
        part="_repeat",
        instead=_resending(PayoutState.SENDING),
        life=replace(_BUSY, partners=3),
        breaks=("I1", "I4", "I10", "I2"),
    ),
    Mutant(
        rule="R10",
        says="after a restore, look before sending",
        owner=operation,
        part="seen_before",
        instead=_never_seen,
        life=replace(_BUSY, restore=True, crashes=0),
        breaks=("I1", "I4"),
    ),
    Mutant(
        rule="R10 day",
        says="after a restore, look before a day ends",
        owner=FollowUp,
        part="_end_of_day",
        instead=_day_ends_unasked(),
        life=replace(_BUSY, restore=True, crashes=0, read_errors=0.8),
        breaks=("I4",),
    ),
    Mutant(
        rule="R11",
        says="the date is looked at after the reference",
        owner=Payouts,
        part="create",
        instead=_date_first(),
        life=replace(_BUSY, midnight=True),
        breaks=("I8",),
    ),
    Mutant(
        rule="R12",
        says="content is compared",
        owner=PayoutRequest,
        part="fingerprint",
        instead=lambda _self: "0" * 64,
        life=replace(_BUSY, strangers=0.6),
        breaks=("I6",),
    ),
    Mutant(
        rule="R13",
        says="the sender looks at its deadline as it writes",
        owner=SimulatedAdapter,
        part="may_write",
        instead=lambda _self, _send_by: True,
        life=replace(_BUSY, pauses=6, crashes=0, refused=0.6),
        breaks=("I1", "I2", "I4"),
    ),
    Mutant(
        rule="R14",
        says="a bank that ignores our key gets no second attempt",
        owner=FollowUp,
        part="_absent",
        instead=_absent_and_again(),
        life=replace(
            _BUSY, loss=0.7, bank_errors=0.0, crashes=0, partners=1, patient=0.9, dawn=True
        ),
        breaks=("I1", "I10"),
    ),
    Mutant(
        rule="R15",
        says="following up reads, it never sends",
        owner=FollowUp,
        part="_ask",
        instead=_look_and_send(),
        life=_BUSY,
        breaks=("I1", "R15"),
    ),
)
