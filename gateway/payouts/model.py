"""A payout: the request, the stored record, and the allowed state transitions."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Final

import msgspec

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    Destination,
    FailureCode,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import Accepted, Bank, Evidence
from gateway.core.account import Environment
from gateway.core.approvals import NamedOwnerDocument
from gateway.core.money import Money
from gateway.core.strict import hidden_tax_number, is_other_number
from gateway.core.user import same_name
from gateway.core.windows import Search

_DOTS: Final = "\N{BULLET}" * 5
_SORTED: Final = json.JSONEncoder(sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedOwner:
    """
    The owner of a payout's key, as the bank named the owner when a user ordered the payout.

    Attributes:
        tax_number: A person's with its ends hidden.
        bank: The key's bank, by name or number; empty where unreported.
        reason: Why it was ordered although the typed number differs; else empty.
    """

    name: str
    tax_number: str
    bank: str = ""
    reason: str = ""

    def differs(self, destination: Destination) -> bool:
        """Return whether the typed number is not the owner's."""
        return is_other_number(destination.tax_number, self.tax_number)

    def document(self, destination: Destination) -> NamedOwnerDocument:
        """Return the owner of the destination's key as a document."""
        return {
            "name": self.name,
            "tax_number": self.tax_number,
            "bank": self.bank,
            "differs": self.differs(destination),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRequest:
    """
    A partner's order of a payout, checked; only "today" is still open.

    Attributes:
        reference: The same reference is the same payout, however often sent.
        destination: In normal form, for sending and for the fingerprint.
        destination_sent: The destination's known fields as they were spelt.
        owner: The key's owner, where a user ordered it and the bank names owners.
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
        Return the SHA-256, in hexadecimal, of the fields that make two requests the same payout.

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
        difference_reason: Reason if the tax number is not the owner's; otherwise ignored.
    """

    request: PayoutRequest
    difference_reason: str


def provider_key(environment: Environment, account_id: str, reference: str) -> str:
    """
    Derive the provider key of a payout: 32 lower-case hexadecimal characters.

    It is the same for every attempt and after a restore, and carries no
    personal data.
    """
    parts = ("v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class PayoutState(StrEnum):
    """
    State of a payout.

    HELD: the intent is stored and nothing is sent until its hold ends; it has no attempt yet.
    SENDING: the intent is stored and an attempt owned; it may have left.
    UNKNOWN: the attempt's outcome is not known; it is never sent again.
    NOT_SENT: proven that the attempt moved nothing; after a restore from backup
        it becomes UNKNOWN before it fails, since a later attempt may be forgotten.
    ACCEPTED: the bank has ordered it.
    PAID, REJECTED, FAILED: final.
    """

    HELD = "held"
    SENDING = "sending"
    UNKNOWN = "unknown"
    NOT_SENT = "not_sent"
    ACCEPTED = "accepted"
    PAID = "paid"
    REJECTED = "rejected"
    FAILED = "failed"


class Absence(StrEnum):
    """
    Source of the proof that nothing was executed, when an attempt may have reached the bank.

    BANK: it was asked and does not have it, or it answered that it executed nothing.
    PEOPLE: two people found no payment, and the bank had never said that it has the order.
    """

    BANK = "bank"
    PEOPLE = "people"


MAY_MOVE_MONEY: Final = frozenset(
    {
        *(PayoutState.HELD, PayoutState.SENDING, PayoutState.UNKNOWN),
        *(PayoutState.ACCEPTED, PayoutState.PAID),
    }
)
"""
Money may have left in these states, or leaves when a hold ends; in the others it is proven that it
did not.
"""

FINAL_STATES = frozenset({PayoutState.PAID, PayoutState.REJECTED, PayoutState.FAILED})


SUCCESSORS: Mapping[PayoutState, frozenset[PayoutState]] = {
    PayoutState.HELD: frozenset({PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.FAILED}),
    PayoutState.SENDING: frozenset(PayoutState) - {PayoutState.SENDING, PayoutState.HELD},
    PayoutState.UNKNOWN: frozenset({PayoutState.NOT_SENT, PayoutState.ACCEPTED}) | FINAL_STATES,
    PayoutState.NOT_SENT: frozenset({PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.FAILED}),
    PayoutState.ACCEPTED: frozenset({PayoutState.PAID, PayoutState.FAILED}),
    PayoutState.PAID: frozenset(),
    PayoutState.REJECTED: frozenset(),
    PayoutState.FAILED: frozenset(),
}
"""Which state may follow which; a final one is never left."""


class PayoutStatus(StrEnum):
    """Status that callers see; ``processing`` until the end is certain."""

    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"


_ENDED: Mapping[PayoutState, PayoutStatus] = {
    PayoutState.PAID: PayoutStatus.PAID,
    PayoutState.REJECTED: PayoutStatus.FAILED,
    PayoutState.FAILED: PayoutStatus.FAILED,
}


_STATES: Mapping[PayoutStatus, frozenset[PayoutState]] = {
    status: frozenset(
        state for state in PayoutState if _ENDED.get(state, PayoutStatus.PROCESSING) is status
    )
    for status in PayoutStatus
}


def states_of(status: PayoutStatus) -> frozenset[PayoutState]:
    """Return the states behind a status."""
    return _STATES[status]


def status_of(state: PayoutState) -> PayoutStatus:
    """Return the status of a state."""
    return _ENDED.get(state, PayoutStatus.PROCESSING)


@dataclass(frozen=True, slots=True)
class Failure:
    """Failure of a payout, and whether the caller gets 403 rather than 400."""

    code: FailureCode
    forbidden: bool = False


REFUSED_BY_OPERATOR: Final = Failure(FailureCode.NOT_SENT, forbidden=True)
"""A person refused a held payout; nothing else that was not sent is forbidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """
    A payout as stored; (``account_id``, ``reference``) is its key.

    Attributes:
        provider_account: The bank's own name of the account that the latest try was sent from.
        attempt: The number of the latest try to move money, from 1; 0 of one that was held and
            never sent.
        lease_until: Until then the attempt belongs to the process that sends it.
        review: No proof can be had; a person decides.
        absence: Who proved of one of its tries that the bank did not execute it; None while no
            byte of a try that ended unpaid has left us.
        held_until: When a HELD payout is sent, or, at midnight, fails. While it is ACCEPTED, the
            deadline of the bank's precautionary analysis.
        client_id: The credential whose request sent it last; its limits count it.
        payee_digest: A digest of the recipient's tax number, for searches; written, and never read
            back.
        owner: The key's owner, where a user ordered it and the bank names owners.
        moved: The amount that the bank moved, where it differs from the ``value`` ordered.
        trace_id: Of its latest try; read for following up alone, else empty.
        archived: Its tries, and the tax number and key of its recipient unmasked, are in a file of
            the archive; the destination is masked.
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
    archived: bool = False

    @property
    def moved_value(self) -> Money:
        """Return the amount the bank moves: as ordered unless known otherwise."""
        return self.value if self.moved is None else self.moved

    @property
    def payee(self) -> tuple[str, str]:
        """
        Return name and tax number of the recipient, a person's number masked.

        Both are the bank's where it named the owner of the key, else both are as typed: a mix of
        both could name a person who does not exist.
        """
        if self.owner is not None:
            return self.owner.name, self.owner.tax_number
        return self.destination.name, hidden_tax_number(self.destination.tax_number)

    def was_sent_from(self, bank: Bank) -> bool:
        """
        Return whether its latest attempt was sent from this bank account.

        No other bank account can prove anything about it, not even its absence.
        """
        return (bank.name, bank.account.provider_account) == (self.provider, self.provider_account)

    def is_held(self, now: datetime) -> bool:
        """Return whether the bank is still within its own deadline to decide."""
        until = self.held_until
        return self.state is PayoutState.ACCEPTED and until is not None and now < until

    def request(self) -> PayoutRequest:
        """Return the request that ordered it."""
        return PayoutRequest(
            reference=self.reference,
            method=self.method,
            value=self.value,
            date=self.date,
            description=self.description,
            destination=self.destination,
            destination_sent=self.destination_sent,
            owner=self.owner,
        )

    def order(self) -> PayoutOrder:
        """Return the order for the bank."""
        return PayoutOrder(
            provider_key=self.provider_key,
            method=self.method,
            value=self.value,
            destination=self.destination,
            description=self.description,
        )


class ListedPayout(msgspec.Struct, frozen=True):
    """A payout in lists, with fewer fields; see ``Payout``."""

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


@dataclass(frozen=True, slots=True)
class PayoutSearch:
    """Search parameters of payouts, by the day they were created; None is every status."""

    search: Search
    status: PayoutStatus | None = None


LONGEST_HOLD: Final = timedelta(minutes=60)
"""No bank may analyse a Pix longer; a deadline beyond it would hide a payout that is stuck."""


KNOWN_AFTER: Final = timedelta(days=1)
"""
A payee is known a day after it was paid.

A theft is noticed within it, and a centavo that is paid before the theft makes nobody known.
"""


def hold_of(said: Accepted, now: datetime) -> datetime | None:
    """Return the end of a bank's hold: its own deadline, at most an hour from now."""
    until = said.held_until
    if until is None or until.tzinfo is None:
        return None
    return min(until, now + LONGEST_HOLD)


def absent_at(payout: Payout, absent_after: timedelta | None) -> datetime | None:
    """
    Return from when "not found" proves that the latest try was not carried out.

    ``absent_after`` is declared by the bank's adapter. None where nothing proves it, and where
    the payout is not unknown.
    """
    if payout.state is not PayoutState.UNKNOWN or absent_after is None:
        return None
    return payout.lease_until + absent_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    An attempt to move money, as stored.

    Attributes:
        number: From 1.
        send_deadline: Nothing of it is sent after this instant.
        outcome: The state it led to; None while it runs.
        evidence: The evidence of the call; None while it runs.
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
    Kind of an event.

    HELD: it was stored and is held.
    RELEASED: a person ended its hold.
    REFUSED: it was held, and a person, or a check when its hold ended, kept it from being sent.
    STORED: a try began: its intent was stored.
    ANSWERED: the call that orders it ended, with an answer of the bank or without.
    PROBED: a status query at the bank.
    NOTICED: a callback named it.
    JUDGED: a person gave an opinion on its ending, or withdrew it.
    DECIDED: two people agreed.
    EXPIRED: the sender's lease or the payout's day was over.
    """

    HELD = "held"
    RELEASED = "released"
    REFUSED = "refused"
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
    A step of a payout, taken only from the expected state.

    Attributes:
        by: The person who decided it; empty for every other step.
        attempt, before: The expected current values; the step is lost otherwise.
        after: The new state.
        cause: The cause; stored as an event in the step's own transaction.
        evidence: Stored with the attempt; None keeps the old value.
        provider_id, e2e_id: Empty keeps the old value.
        held_until: None keeps the old value.
        moved: The amount moved, if it differs from the order; None keeps the old value.
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
    by: str = ""

    @property
    def absence(self) -> Absence | None:
        """Return the source of this step's proof that nothing was executed; None for no proof."""
        if self.cause is EventKind.DECIDED and self.after is PayoutState.FAILED:
            return None if PayoutState.ACCEPTED in self.before else Absence.PEOPLE
        failed_unsent = self.failure is not None and self.failure.code is FailureCode.NOT_SENT
        if self.after is not PayoutState.NOT_SENT and not failed_unsent:
            return None
        has_left = self.evidence is not None and self.evidence.bytes_left
        return Absence.BANK if has_left else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPayee:
    """
    The rule for payees new to a company, and the amount that they get without a hold.

    Attributes:
        digests: Digests of the payee's tax number, under every key.
        since: Payees paid by then are known; orders to others since are added up.
        most: The limit of that sum; a payout above it is held.
        held_until: The end of its hold.
    """

    company_id: str
    digests: Sequence[bytes]
    since: datetime
    most: Money
    held_until: datetime


@dataclass(frozen=True, slots=True)
class Intent:
    """
    A new payout and its first attempt; a held one has none.

    Attributes:
        limited: Its credential has limits.
        first: Its payee is new to the company, and gets no more than this says.
    """

    payout: Payout
    attempt: Attempt | None
    limited: bool = False
    first: FirstPayee | None = None
    was_held: ClassVar[bool] = False

    @property
    def at(self) -> datetime:
        """Return when it is stored."""
        return self.payout.updated_at if self.attempt is None else self.attempt.started_at


@dataclass(frozen=True, slots=True)
class Claim:
    """
    The next attempt of a payout that was not sent, or was held; see ``StoredPayouts.claim``.

    ``before`` is the state that the payout must be in.
    """

    payout: Payout
    attempt: Attempt
    limited: bool = False
    before: PayoutState = PayoutState.NOT_SENT
    first: ClassVar[None] = None

    @property
    def at(self) -> datetime:
        """Return when its attempt begins."""
        return self.attempt.started_at

    @property
    def was_held(self) -> bool:
        """Return whether it was stored before, to be sent now."""
        return self.before is PayoutState.HELD


class Precedents(msgspec.Struct, frozen=True):
    """
    Stored payouts that a new payout conflicts with or resembles.

    Attributes:
        stored: The payout that has its reference already.
        similar: Other references with the same amount and destination, oldest first.
    """

    stored: Payout | None
    similar: Sequence[str]


class Certainty(StrEnum):
    """
    The proven state of a payout.

    HELD: no byte of it has left us, and it will be sent when its hold ends.
    NOT_SENT: no byte of it has left us, so nothing moved.
    NOT_EXECUTED: it may have left us, and the bank does not have it, or answered that it executed
        nothing: nothing moved.
    SENT_UNKNOWN: it may have left us; nothing is proven yet.
    CONFIRMED_REJECTED: the bank said that it did not pay, or two users did after it had accepted.
    DECIDED_UNPAID: two users found no payment; the bank has never said that it had the order.
    CONFIRMED_ACCEPTED: the bank has ordered it.
    SETTLED: the money arrived.

    Of NOT_SENT and NOT_EXECUTED, no attempt so far can move anything any more.
    """

    HELD = "held"
    NOT_SENT = "not_sent"
    NOT_EXECUTED = "not_executed"
    SENT_UNKNOWN = "sent_unknown"
    CONFIRMED_REJECTED = "confirmed_rejected"
    DECIDED_UNPAID = "decided_unpaid"
    CONFIRMED_ACCEPTED = "confirmed_accepted"
    SETTLED = "settled"


class CertaintySought(StrEnum):
    """
    Certainty as a search parameter.

    NOT_SENT finds ``not_sent`` and ``not_executed``, and CONFIRMED_REJECTED finds
    ``confirmed_rejected`` and ``decided_unpaid``, as they did when each had one word. NEVER_SENT
    and BANK_REJECTED find the first of each pair alone. Every other finds the word of its name.
    """

    HELD = "held"
    NOT_SENT = "not_sent"
    NEVER_SENT = "never_sent"
    NOT_EXECUTED = "not_executed"
    SENT_UNKNOWN = "sent_unknown"
    CONFIRMED_REJECTED = "confirmed_rejected"
    BANK_REJECTED = "bank_rejected"
    DECIDED_UNPAID = "decided_unpaid"
    CONFIRMED_ACCEPTED = "confirmed_accepted"
    SETTLED = "settled"

    @property
    def words(self) -> frozenset[Certainty]:
        """Return the matching certainties."""
        return _FOUND_BY.get(self) or frozenset({Certainty(self.value)})


UNSENT: Final = frozenset({Certainty.NOT_SENT, Certainty.NOT_EXECUTED})
"""What moved nothing and may be ordered again on its day."""

_FOUND_BY: Final[Mapping[CertaintySought, frozenset[Certainty]]] = {
    CertaintySought.NOT_SENT: UNSENT,
    CertaintySought.NEVER_SENT: frozenset({Certainty.NOT_SENT}),
    CertaintySought.CONFIRMED_REJECTED: frozenset(
        {Certainty.CONFIRMED_REJECTED, Certainty.DECIDED_UNPAID}
    ),
    CertaintySought.BANK_REJECTED: frozenset({Certainty.CONFIRMED_REJECTED}),
}


_OF: Final[Mapping[PayoutState, Certainty]] = {
    PayoutState.HELD: Certainty.HELD,
    PayoutState.SENDING: Certainty.SENT_UNKNOWN,
    PayoutState.UNKNOWN: Certainty.SENT_UNKNOWN,
    PayoutState.NOT_SENT: Certainty.NOT_SENT,
    PayoutState.ACCEPTED: Certainty.CONFIRMED_ACCEPTED,
    PayoutState.PAID: Certainty.SETTLED,
    PayoutState.REJECTED: Certainty.CONFIRMED_REJECTED,
    PayoutState.FAILED: Certainty.CONFIRMED_REJECTED,
}


def certainty_when(
    state: PayoutState, failure: FailureCode | None, absence: Absence | None
) -> Certainty:
    """Return the certainty for a state, a failure and the source of proof."""
    is_failed = state is PayoutState.FAILED
    if is_failed and absence is Absence.PEOPLE:
        return Certainty.DECIDED_UNPAID
    if state is not PayoutState.NOT_SENT and not (is_failed and failure is FailureCode.NOT_SENT):
        return _OF[state]
    return Certainty.NOT_EXECUTED if absence is Absence.BANK else Certainty.NOT_SENT


def certainty_of(payout: Payout) -> Certainty:
    """Return the certainty of a payout; see ``certainty_when``."""
    failure = payout.failure.code if payout.failure else None
    return certainty_when(payout.state, failure, payout.absence)


class Verdict(StrEnum):
    """Decisions of users; each is a final state."""

    PAID = "paid"
    FAILED = "failed"

    @property
    def state(self) -> PayoutState:
        """The resulting state."""
        return PayoutState(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """
    One user's finding about a payout in review.

    Attributes:
        moved: The amount that the bank moved, where it paid; None if it did not.
        by: Who; the second opinion must be another person's.
        reason: The evidence, for the auditors.
        attempt, state: Where the payout stood when it was judged. A withdrawn one is of no state
            and of attempt 0.
    """

    account_id: str
    reference: str
    verdict: Verdict
    reason: str
    by: str
    at: datetime
    attempt: int
    state: PayoutState | None
    moved: Money | None = None

    def agrees(self, other: Opinion, payout: Payout) -> bool:
        """Return whether both opinions have the same verdict and amount."""
        mine, theirs = self.moved or payout.value, other.moved or payout.value
        return self.verdict is other.verdict and mine == theirs

    def is_about(self, payout: Payout) -> bool:
        """Return whether the payout is still in the state that this opinion judged."""
        return (self.attempt, self.state) == (payout.attempt, payout.state)

    @property
    def is_withdrawn(self) -> bool:
        """Whether the user withdrew it: it stays on record and does not count."""
        return self.attempt == 0 and self.state is None

    def withdrawn(self) -> Opinion:
        """Return the opinion as stored after its withdrawal."""
        return replace(self, attempt=0, state=None)


def may_read(person: str, by: str, payout: Payout) -> bool:
    """
    Return whether a user may read another user's opinion of a payout.

    Opinions are independent: during the review, users read only their own.
    """
    return not payout.review or same_name(person) == by


def is_same_place(one: Destination, other: Destination) -> bool:
    """Return whether two destinations are the same tax number at the same key or bank account."""
    mine, theirs = normal_destination(one), normal_destination(other)
    return {**mine, "name": ""} == {**theirs, "name": ""}


def place_of(destination: Destination) -> tuple[str, ...]:
    """
    Return where money goes, the same for every spelling of a bank account.

    Leading zeros, the hyphen, the bank (COMPE or ISPB) and the kind of account are left out: one
    tax number seldom has two accounts of the same number. For sums alone; ``is_same_place``
    compares everything, to recognise a known payee.
    """
    if isinstance(destination, PixDestination):
        return destination.tax_number, destination.key_type, destination.key
    account = destination.account.replace("-", "").lower()
    return destination.tax_number, destination.branch.lstrip("0"), account.lstrip("0")


def normal_destination(destination: Destination) -> dict[str, str]:
    """Convert a destination to a flat mapping of texts, for storing and comparing."""
    fields = destination.__dataclass_fields__
    return {name: str(getattr(destination, name)) for name in fields}


def hidden_destination(sent: Mapping[str, str]) -> dict[str, str]:
    """Return a destination as typed, with a person's tax number and key masked."""
    shown = dict(sent)
    bare = re.sub(r"[./ -]", "", sent["tax_number"])
    if hidden_tax_number(bare) != bare:
        shown["tax_number"] = hidden_tax_number(bare)
    if "key" in sent:
        shown["key"] = hidden_key(sent.get("key_type", ""), sent["key"])
    return shown


def restored_destination(method: PayoutMethod, fields: Mapping[str, str]) -> Destination:
    """Build a destination from the mapping of ``normal_destination``."""
    if method is PayoutMethod.PIX:
        return PixDestination(
            name=fields["name"],
            tax_number=fields["tax_number"],
            key_type=PixKeyType(fields["key_type"]),
            key=fields["key"],
        )
    return BankDestination(
        name=fields["name"],
        tax_number=fields["tax_number"],
        bank_number=fields["bank_number"],
        branch=fields["branch"],
        account=fields["account"],
        account_type=AccountType(fields["account_type"]),
    )


def masked_destination(method: PayoutMethod, sent: Mapping[str, str]) -> Destination:
    """
    Build the destination of an archived payout from what was sent, which is masked.

    Whatever was left out of it, the payout can be read: its reference is known.
    """
    given = {name: text for name, text in sent.items() if text}
    names = {*PixDestination.__dataclass_fields__, *BankDestination.__dataclass_fields__}
    kinds = {"key_type": PixKeyType.EVP.value, "account_type": AccountType.CHECKING.value}
    return restored_destination(method, dict.fromkeys(names, "") | kinds | given)


def hidden_key(kind: str, key: str) -> str:
    """
    Mask most of a key that identifies a person: a CPF, an e-mail address, a telephone.

    A CNPJ and a random key stay whole.
    """
    match kind:
        case "cpf":
            return hidden_tax_number(re.sub(r"[. -]", "", key))
        case "email":
            name, _, place = key.partition("@")
            first, _, rest = place.partition(".")
            return f"{name[:1]}{_DOTS}@{first[:1]}{_DOTS}.{rest}"
        case "phone":
            return f"{key[:3]} {_DOTS}{key[-4:]}"
        case _:
            return key
