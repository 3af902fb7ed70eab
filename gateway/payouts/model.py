"""A payout: what was asked, what is stored, and which step may follow which."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from gateway.banks.port.payout_orders import (
    Destination,
    FailureCode,
    NamedOwner,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
    normal_destination,
)
from gateway.banks.port.providers import Accepted, Bank, Evidence
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.core.strict import hidden_tax_number

_SORTED: Final = json.JSONEncoder(sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRequest:
    """
    A payout as the partner asked for it, checked; only "today" is still open.

    Attributes:
        reference: The same reference is the same payout, however often sent.
        destination: In normal form, for sending and for the fingerprint.
        destination_sent: The destination's known fields as they were spelt.
        owner: Of the key, where a user ordered it and the bank names owners.
    """

    reference: str
    method: PayoutMethod
    value: Money
    date: date
    description: str
    destination: Destination
    destination_sent: Mapping[str, str]
    owner: NamedOwner | None = None

    def tax_numbers(self) -> Mapping[str, str]:
        """Return the destination's tax number and PIX key, by their fields in the request."""
        to = self.destination
        numbers = {"destination.tax_number": to.tax_number}
        return numbers | {"destination.key": to.key} if isinstance(to, PixDestination) else numbers

    def fingerprint(self) -> str:
        """
        Return the SHA-256, in hexadecimal, of what makes two requests the same payout.

        The date is not in it, nor are spelling, order and white space.
        """
        content = [
            "v1",
            self.method.value,
            self.value.centavos,
            normal_destination(self.destination),
            self.description,
        ]
        return hashlib.sha256(_SORTED.encode(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPayout:
    """
    A payout to a PIX key as a user orders it.

    Attributes:
        difference_reason: Why, if the tax number is not the owner's; else it is not asked for.
    """

    request: PayoutRequest
    difference_reason: str


def provider_key(environment: Environment, account_id: str, reference: str) -> str:
    """
    Derive the key a bank knows the payout by: 32 lower-case hexadecimal characters.

    It is the same for every attempt and after a restore, and carries no
    personal data.
    """
    parts = ("v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class PayoutState(StrEnum):
    """
    Where a payout stands.

    SENDING: the intent is stored and an attempt owned; it may have left.
    UNKNOWN: the attempt's outcome is not known; it is never sent again.
    NOT_SENT: proven that the attempt moved nothing; after a restore from backup
        it becomes UNKNOWN before it fails, since a later attempt may be forgotten.
    ACCEPTED: the bank has ordered it.
    PAID, REJECTED, FAILED: final.
    """

    SENDING = "sending"
    UNKNOWN = "unknown"
    NOT_SENT = "not_sent"
    ACCEPTED = "accepted"
    PAID = "paid"
    REJECTED = "rejected"
    FAILED = "failed"


class Absence(StrEnum):
    """
    Who proves that nothing was executed, where a try may have reached the bank.

    BANK: it was asked and does not have it, or it answered that it executed nothing.
    PEOPLE: two people found no payment, and the bank had never said that it has the order.
    """

    BANK = "bank"
    PEOPLE = "people"


FINAL_STATES = frozenset({PayoutState.PAID, PayoutState.REJECTED, PayoutState.FAILED})


SUCCESSORS: Mapping[PayoutState, frozenset[PayoutState]] = {
    PayoutState.SENDING: frozenset(PayoutState) - {PayoutState.SENDING},
    PayoutState.UNKNOWN: frozenset(
        {PayoutState.NOT_SENT, PayoutState.ACCEPTED, PayoutState.REJECTED} | FINAL_STATES
    ),
    PayoutState.NOT_SENT: frozenset({PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.FAILED}),
    PayoutState.ACCEPTED: frozenset({PayoutState.PAID, PayoutState.FAILED}),
    PayoutState.PAID: frozenset(),
    PayoutState.REJECTED: frozenset(),
    PayoutState.FAILED: frozenset(),
}
"""Which state may follow which; a final one is never left."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why, and whether the caller was (or is) answered 403 rather than 400."""

    code: FailureCode
    forbidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """
    A payout as stored; (``account_id``, ``reference``) is its key.

    Attributes:
        provider_account: The bank's own name of the account that the latest try was sent from.
        attempt: The number of the latest try to move money, from 1.
        lease_until: Until then the attempt belongs to the process that sends it.
        review: No proof can be had; a person decides.
        absence: Who proved of one of its tries that the bank did not execute it; None while no
            byte of a try that ended unpaid has left us.
        held_until: The deadline of the bank's precautionary analysis, while
            the payout is ACCEPTED and the bank holds it.
        client_id: The credential whose request sent it last; its limits count it.
        payee_digest: Of the recipient's tax number, for searches; written, and never read back.
        owner: Of the key, where a user ordered it and the bank names owners.
        moved: What the bank moved, where that is another amount than the ``value`` ordered.
        trace_id: Of its latest try; read for following up alone, else empty.
    """

    account_id: str
    reference: str
    fingerprint: str
    provider_key: str
    provider: str
    provider_account: str
    client_id: str
    method: PayoutMethod
    value: Money
    date: date
    description: str
    destination: Destination
    destination_sent: Mapping[str, str]
    state: PayoutState
    attempt: int
    lease_until: datetime
    created_at: datetime
    updated_at: datetime
    settled_at: datetime | None = None
    provider_id: str = ""
    e2e_id: str = ""
    failure: Failure | None = None
    review: bool = False
    absence: Absence | None = None
    held_until: datetime | None = None
    payee_digest: bytes = field(default=b"", compare=False, repr=False)
    owner: NamedOwner | None = None
    moved: Money | None = None
    trace_id: str = field(default="", compare=False)

    @property
    def moved_value(self) -> Money:
        """Return what the bank moves for it: as ordered, as far as nothing else is known."""
        return self.value if self.moved is None else self.moved

    @property
    def payee(self) -> tuple[str, str]:
        """
        Return name and tax number of the recipient, a person's with its ends hidden.

        Both are the bank's where it named the owner of the key, else both are as typed: a name of
        the one beside a number of the other would be nobody.
        """
        if self.owner is not None:
            return self.owner.name, self.owner.tax_number
        return self.destination.name, hidden_tax_number(self.destination.tax_number)

    def was_sent_from(self, bank: Bank) -> bool:
        """
        Say whether its latest try was sent from this bank account.

        No other bank account can prove anything about it: not even that it does not exist.
        """
        return (bank.name, bank.account.provider_account) == (self.provider, self.provider_account)

    def is_held(self, now: datetime) -> bool:
        """Say whether the bank is still within its own deadline to decide."""
        until = self.held_until
        return self.state is PayoutState.ACCEPTED and until is not None and now < until

    def order(self) -> PayoutOrder:
        """Return what the bank is asked for."""
        return PayoutOrder(
            provider_key=self.provider_key,
            method=self.method,
            value=self.value,
            destination=self.destination,
            description=self.description,
        )


class ListedPayout(msgspec.Struct, frozen=True):
    """A payout as lists show it: what was asked, and how it stands; see ``Payout``."""

    reference: str
    method: PayoutMethod
    state: PayoutState
    value: Money
    date: date
    description: str
    destination_sent: Mapping[str, str]
    e2e_id: str
    created_at: datetime
    updated_at: datetime
    settled_at: datetime | None
    failure: Failure | None


LONGEST_HOLD: Final = timedelta(minutes=60)
"""No bank may analyse a Pix longer; a deadline beyond it would hide a payout that is stuck."""


def hold_of(said: Accepted, now: datetime) -> datetime | None:
    """Return until when a bank holds a payout: its own deadline, at most an hour from now."""
    until = said.held_until
    if until is None or until.tzinfo is None:
        return None
    return min(until, now + LONGEST_HOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    One try to move money, as stored.

    Attributes:
        number: From 1.
        send_deadline: Nothing of it is sent after this instant.
        outcome: The state it led to; None while it runs.
        evidence: What is known of the call; None while it runs.
    """

    number: int
    provider: str
    started_at: datetime
    send_deadline: datetime
    lease_until: datetime
    trace_id: str
    outcome: PayoutState | None = None
    evidence: Evidence | None = None
    ended_at: datetime | None = None
    last_probe_at: datetime | None = None
    next_probe_at: datetime | None = None


class EventKind(StrEnum):
    """
    What happened to a payout.

    STORED: a try began: its intent was stored.
    ANSWERED: the call that orders it ended, with an answer of the bank or without.
    PROBED: the bank was asked what became of it.
    NOTICED: a callback named it.
    JUDGED: a person said how it ended, or took that back.
    DECIDED: two people agreed.
    EXPIRED: the sender's lease or the payout's day was over.
    """

    STORED = "stored"
    ANSWERED = "answered"
    PROBED = "probed"
    NOTICED = "noticed"
    JUDGED = "judged"
    DECIDED = "decided"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    A step of a payout, done only if it is still in the state we expect.

    Attributes:
        attempt, before: What must still hold; the step is lost otherwise.
        after: The new state.
        cause: What led to it; kept as an event in the step's own transaction.
        evidence: Kept with the attempt; None leaves what is there.
        provider_id, e2e_id: Empty ones leave what is there.
        held_until: None leaves what is there.
        moved: What the bank moved, if another amount than ordered; None leaves what is there.
    """

    account_id: str
    reference: str
    attempt: int
    before: frozenset[PayoutState]
    after: PayoutState
    at: datetime
    evidence: Evidence | None = None
    provider_id: str = ""
    e2e_id: str = ""
    failure: Failure | None = None
    settled_at: datetime | None = None
    held_until: datetime | None = None
    moved: Money | None = None
    cause: EventKind = EventKind.ANSWERED

    @property
    def absence(self) -> Absence | None:
        """Return who proves by this step that the bank executed nothing; None leaves it open."""
        if self.cause is EventKind.DECIDED and self.after is PayoutState.FAILED:
            return None if PayoutState.ACCEPTED in self.before else Absence.PEOPLE
        failed_unsent = self.failure is not None and self.failure.code is FailureCode.NOT_SENT
        if self.after is not PayoutState.NOT_SENT and not failed_unsent:
            return None
        has_left = self.evidence is not None and self.evidence.bytes_left
        return Absence.BANK if has_left else None


@dataclass(frozen=True, slots=True)
class Intent:
    """A new payout and its first attempt; ``limited`` says that its credential has limits."""

    payout: Payout
    attempt: Attempt
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The next attempt of a payout that was not sent; see ``Payouts.claim``."""

    payout: Payout
    attempt: Attempt
    limited: bool = False


class Precedents(msgspec.Struct, frozen=True):
    """
    What a new payout meets in the store.

    Attributes:
        stored: The payout that has its reference already.
        similar: Other references with the same amount and destination, oldest first.
    """

    stored: Payout | None
    similar: Sequence[str]
