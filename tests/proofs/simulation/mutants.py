"""
The rules of payouts, each one removed: the simulation must notice.

A mutant replaces a part of the code under test during a test; the product knows nothing of it. With
it comes the kind of life in which the rule is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from gateway.banks.port.capabilities import Repeat
from gateway.banks.port.providers import NotSent
from gateway.payouts import create as operation
from gateway.payouts import schedule, writes
from gateway.payouts import store as stored
from gateway.payouts.create import PayoutGuards, Payouts
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.first_payees import FirstPayments
from gateway.payouts.followup import FollowUp
from gateway.payouts.model import PayoutRequest, PayoutState
from gateway.payouts.store import StoredPayouts
from gateway.payouts.writes import PayoutWriter
from tests.proofs.simulation import replacements as without
from tests.proofs.simulation.adapter import SimulatedAdapter
from tests.proofs.simulation.bank import SAID
from tests.proofs.simulation.scenario import UNHELD, Scenario

_BUSY = Scenario(
    kind=Repeat.IGNORES, loss=0.2, bank_errors=0.3, references=1, partners=2, posts=4, crashes=2
)

_HELD = Scenario(first_payee=True, decides=0.5, pauses=2, crashes=1)
"""Nobody was ever paid, and the bank does its work."""

_CROWD = replace(_BUSY, references=3, partners=3, crowd=True)


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


MUTANTS = (
    Mutant(
        rule="R1",
        says="the intent is committed before the first byte",
        owner=Payouts,
        part="create",
        instead=without.send_before_storing,
        life=_BUSY,
        breaks=("I1", "I2"),
    ),
    Mutant(
        rule="R2",
        says="one atomic insert, never read then insert",
        owner=StoredPayouts,
        part="add",
        instead=without.read_then_insert,
        life=replace(_BUSY, partners=3, crashes=0),
        breaks=("I1", "I2", "I10"),
    ),
    Mutant(
        rule="R1 batch",
        says="nobody is answered before the commit of his batch",
        owner=PayoutWriter,
        part="_commit",
        instead=without.told_though_lost,
        life=replace(_CROWD, store_faults=0.1),
        breaks=("I1", "I2", "I3"),
    ),
    Mutant(
        rule="R2 batch",
        says="of equal references in a batch one wins",
        owner=writes,
        part="_found",
        instead=without.all_won,
        life=_CROWD,
        breaks=("I1", "I2", "I10"),
    ),
    Mutant(
        rule="R3",
        says="what is unknown is not sent again",
        owner=Payouts,
        part="_repeat",
        instead=without.resending(PayoutState.UNKNOWN),
        life=_BUSY,
        breaks=("I1", "I4", "I10"),
    ),
    Mutant(
        rule="R4",
        says="not found counts after the quiet period only",
        owner=FollowUp,
        part="_absent",
        instead=without.absent_at_once(),
        life=replace(_BUSY, slow=0.5, hidden=0.8),
        breaks=("I1", "I4", "I10"),
    ),
    Mutant(
        rule="R5",
        says="a duplicate is ours",
        owner=SimulatedAdapter,
        part="read",
        instead=without.read_with(duplicate=without.refusal),
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
        instead=without.refusal,
        life=replace(_BUSY, kind=Repeat.SAME_ANSWER),
        breaks=("I4", "I5"),
    ),
    Mutant(
        rule="R7",
        says="a refusal is told once it is stored",
        owner=operation,
        part="answer",
        instead=without.told_unrecorded(),
        life=replace(_BUSY, rejects=0.6, store_faults=0.1),
        breaks=("I5",),
    ),
    Mutant(
        rule="R8",
        says="outcomes are written by compare-and-set",
        owner=writes,
        part="_step_payouts",
        instead=without.blind_steps,
        more=(*((each, "check", lambda _change: None) for each in (stored, writes)),),
        life=replace(_BUSY, slow=0.4, pauses=3, kind=Repeat.SAME_ANSWER),
        breaks=("I7", "I4", "I10"),
    ),
    Mutant(
        rule="R8 batch",
        says="in a batch every step is compared",
        owner=writes,
        part="_fits",
        instead=lambda _move, _row: True,
        more=(
            (writes, "_alone", lambda _writes: False),
            (writes, "_step_payouts", without.blind_steps),
            *((each, "check", lambda _change: None) for each in (stored, writes)),
        ),
        life=replace(_BUSY, slow=0.4, pauses=3, kind=Repeat.SAME_ANSWER),
        breaks=("I1", "I2", "I4", "I7", "I10"),
    ),
    Mutant(
        rule="R9",
        says="nobody takes over somebody's send",
        owner=Payouts,
        part="_repeat",
        instead=without.resending(PayoutState.SENDING),
        life=replace(_BUSY, partners=3),
        breaks=("I1", "I4", "I10", "I2"),
    ),
    Mutant(
        rule="R10",
        says="after a restore, look before sending",
        owner=operation,
        part="seen_before",
        instead=without.never_seen,
        life=replace(_BUSY, restore=True, crashes=0),
        breaks=("I1", "I4"),
    ),
    Mutant(
        rule="R10 day",
        says="after a restore, look before a day ends",
        owner=FollowUp,
        part="_end_of_day",
        instead=without.day_ends_unasked(),
        life=replace(_BUSY, restore=True, crashes=0, read_errors=0.8),
        breaks=("I4",),
    ),
    Mutant(
        rule="R11",
        says="the date is looked at after the reference",
        owner=Payouts,
        part="create",
        instead=without.date_first(),
        life=replace(_BUSY, midnight=True),
        breaks=("I8",),
    ),
    Mutant(
        rule="R11 day",
        says="what was not sent on its day is not sent on another",
        owner=FollowUp,
        part="end_day",
        instead=without.day_goes_on,
        life=replace(_BUSY, midnight=True, refused=0.8, partners=3, posts=30, crashes=0),
        breaks=("I12",),
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
        instead=without.absent_and_again(),
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
        instead=without.look_and_send(),
        life=_BUSY,
        breaks=("I1", "R15"),
    ),
    Mutant(
        rule="R16",
        says="nobody is asked while the bank has time to decide",
        owner=schedule,
        part="held_check",
        instead=lambda _held_until, _now: None,
        life=replace(_BUSY, holds=0.9, crashes=0),
        breaks=("I13",),
    ),
    Mutant(
        rule="R17",
        says="what came back of a paid payout is kept",
        owner=StoredPayouts,
        part="note_returns",
        instead=without.forgotten,
        life=replace(_BUSY, returns=0.9, crashes=0),
        breaks=("I14",),
    ),
    Mutant(
        rule="R18",
        says="a payout to a first payee is held",
        owner=PayoutGuards,
        part="first_payee",
        instead=without.nobody_new,
        life=_HELD,
        breaks=("I16",),
    ),
    Mutant(
        rule="R18 sum",
        says="what a first payee gets counts together",
        owner=FirstPayments,
        part="take",
        instead=lambda _self, _intent: None,
        life=replace(_HELD, unheld=UNHELD, references=4, crowd=True),
        breaks=("I16",),
    ),
    Mutant(
        rule="R18 time",
        says="a held payout is sent when its hold is over",
        owner=FollowUp,
        part="hold_is_over",
        instead=lambda _self, _payout: True,
        more=((writes, "payout_row", without.due_at_once),),
        life=_HELD,
        breaks=("I16",),
    ),
    Mutant(
        rule="R19",
        says="a hold is ended by compare-and-set",
        owner=writes,
        part="_claim_payouts",
        instead=without.blind_claims,
        more=(
            (StoredFollowUps, "claim_due", without.due_to_everybody),
            # The attempt's number is its key, which would stop the second one.
            (writes._Batch, "_begin", without.no_attempt_kept),
        ),
        life=replace(_HELD, pauses=0, crashes=0),
        breaks=("I1", "I2", "I4", "I10"),
    ),
    Mutant(
        rule="R20",
        says="a held payout is not sent after its day",
        owner=FollowUp,
        part="end_day",
        instead=without.day_goes_on,
        life=replace(_HELD, midnight=True),
        breaks=("I12", "I17"),
    ),
)
