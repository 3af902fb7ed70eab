"""Documents of payouts for partners and staff: one payout, and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, Never, NotRequired, Self, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.accounts.documents import AccountDocument, account_document
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, PixReturn
from gateway.core import fields
from gateway.core.account import Account
from gateway.core.approvals import NamedOwnerDocument
from gateway.core.fields import meaning
from gateway.core.money import ZERO, Money, Sum, sum_of
from gateway.core.permissions import USER_CLIENT
from gateway.core.schemas import Day, Instant, KeyType, OptionalMoment, instant, one_of
from gateway.core.structs import struct_of
from gateway.core.windows import Listed
from gateway.http.common import Meter, OfAccount, meter
from gateway.payouts.events import HappeningDocument, ShownMove
from gateway.payouts.model import (
    FINAL_STATES,
    REFUSED_BY_OPERATOR,
    UNSENT,
    Attempt,
    Certainty,
    Failure,
    ListedPayout,
    Opinion,
    Payout,
    PayoutState,
    PayoutStatus,
    certainty_of,
    hidden_destination,
    status_of,
)

_FAILURES: Final[Mapping[FailureCode, str]] = {
    FailureCode.REJECTED: "The bank rejected the payout.",
    FailureCode.INSUFFICIENT_FUNDS: "The available balance was not enough.",
    FailureCode.KEY_NOT_FOUND: "The PIX key does not exist.",
    FailureCode.ACCOUNT_INVALID: "The recipient's account is not valid.",
    FailureCode.OWNER_MISMATCH: "The tax number is not that of the recipient.",
    FailureCode.LIMIT_EXCEEDED: "A limit of the account was exceeded.",
    FailureCode.RETURNED: "The recipient's bank returned the money.",
    FailureCode.NOT_SENT: "The payout was not sent.",
    FailureCode.OTHER: "The payout failed.",
}

_REFUSED_BY_OPERATOR: Final = "The operator refused the payout while it was held; it was not sent."


class FailureDocument(TypedDict):
    """Why a payout failed."""

    code: Annotated[
        Literal[
            "REJECTED",
            "INSUFFICIENT_FUNDS",
            "KEY_NOT_FOUND",
            "ACCOUNT_INVALID",
            "OWNER_MISMATCH",
            "LIMIT_EXCEEDED",
            "RETURNED",
            "NOT_SENT",
            "OTHER",
        ],
        meaning("Why it failed; the partner guide lists the codes."),
    ]
    message: Annotated[
        str,
        Meta(
            description="A sentence for people; its wording may change.",
            examples=["The PIX key does not exist."],
        ),
    ]


class PixDestinationDocument(TypedDict):
    """A payee by PIX key, as sent; omitted fields are absent."""

    name: NotRequired[
        Annotated[str, Meta(description="Name, as people know it.", examples=["Maria Silva"])]
    ]
    tax_number: fields.PersonTaxNumber
    key_type: Annotated[KeyType, Meta(description="The type of the Pix key.", examples=["email"])]
    key: fields.PixKey


class BankAccountDestinationDocument(TypedDict):
    """A payee by bank account, as sent; omitted fields are absent."""

    name: NotRequired[
        Annotated[str, Meta(description="Name, as people know it.", examples=["Maria Silva"])]
    ]
    tax_number: fields.PersonTaxNumber
    bank_number: fields.BankNumber
    branch: fields.Branch
    account: fields.Account
    account_type: NotRequired[
        Annotated[
            Literal["checking", "savings", "salary", "payment"],
            meaning("The kind of account; left out of a request, it is `checking`."),
        ]
    ]


class PayoutFields(TypedDict):
    """Fields of payouts of every method."""

    reference: fields.Reference
    status: Annotated[
        Literal["processing", "paid", "failed"], meaning("The state that it is in.", "paid")
    ]
    value: Sum
    date: Annotated[Day, meaning("The payout's date, a day in UTC: today.")]
    description: fields.Description
    e2e_id: fields.E2eId
    created_at: Instant
    updated_at: Instant
    settled_at: Instant
    failure: NotRequired[FailureDocument]
    origin: AccountDocument


class PixPayoutDocument(PayoutFields):
    """A payout to a PIX key; only a failed one has a failure."""

    method: Annotated[Literal["pix"], meaning("How the money is paid: `pix` or `bank_account`.")]
    destination: PixDestinationDocument


class BankAccountPayoutDocument(PayoutFields):
    """A payout to a bank account; only a failed one has a failure."""

    method: Annotated[
        Literal["bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]
    destination: BankAccountDestinationDocument


@one_of(PixPayoutDocument, BankAccountPayoutDocument, discriminator="method")
class PayoutDocument(PayoutFields):
    """A payout; only a failed one has a failure."""

    method: Annotated[
        Literal["pix", "bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]
    destination: Annotated[dict[str, str], meaning("Where the money goes.")]


def payout_document(found: Payout | ListedPayout, origin: AccountDocument) -> PayoutDocument:
    """Return a payout as partners see it (contract 2.6)."""
    shown: PayoutDocument = {
        "reference": found.reference,
        "method": found.method.value,
        "status": status_of(found.state).value,
        "value": found.value,
        "date": found.date.isoformat(),
        "description": found.description,
        "e2e_id": found.e2e_id,
        "created_at": instant(found.created_at),
        "updated_at": instant(found.updated_at),
        "settled_at": instant(found.settled_at),
        "origin": origin,
        "destination": {name: text for name, text in found.destination_sent.items() if text},
    }
    if shown["status"] == "failed":
        failure = found.failure or Failure(FailureCode.OTHER)
        by_operator = failure == REFUSED_BY_OPERATOR
        message = _REFUSED_BY_OPERATOR if by_operator else _FAILURES[failure.code]
        shown["failure"] = {"code": failure.code.value, "message": message}
    return shown


@dataclass(frozen=True, slots=True)
class AccountPayout:
    """A payout of an account."""

    account: Account
    payout: Payout | ListedPayout

    def to_document(self, _reader: object) -> PayoutDocument:
        """Return the document for partners, with a person's tax number and key masked."""
        shown = payout_document(self.payout, account_document(self.account))
        return {**shown, "destination": hidden_destination(shown["destination"])}


class PayoutReturnDocument(Struct, frozen=True):
    """Money of a paid payout that came back; its id begins with ``D``."""

    id: Annotated[str, Meta(description="Its id.", examples=["D9999999920261122134011ABCDEFGHI"])]
    value: Sum
    at: OptionalMoment


class SinceFields(TypedDict):
    """
    Fields for users alone: the end of the bank's hold, and returns since.

    ``owner`` is absent where the key's owner was not looked up. ``moved`` is the amount that the
    bank moved where that is not the ``value`` ordered, and ``difference`` that less ``value``.
    """

    held_until: Instant
    returns: Annotated[
        list[PayoutReturnDocument], meaning("What came back of the payout, oldest first.")
    ]
    owner: NotRequired[NamedOwnerDocument]
    moved: NotRequired[Sum]
    difference: NotRequired[Sum]


class PixPayoutRecord(PixPayoutDocument, SinceFields):
    """A payout to a PIX key, as users read it."""


class BankAccountPayoutRecord(BankAccountPayoutDocument, SinceFields):
    """A payout to a bank account, as users read it."""


@one_of(PixPayoutRecord, BankAccountPayoutRecord, discriminator="method")
class PayoutRecord(PayoutDocument, SinceFields):
    """
    A payout for users; a paid one stays paid, even if money comes back.

    A person's tax number and key are hidden in it.
    """


@dataclass(frozen=True, slots=True)
class PayoutWithReturns:
    """A payout of an account, and its returns since it was paid, oldest first."""

    account: Account
    payout: Payout
    returns: Sequence[PixReturn]

    def to_document(self, reader: object) -> PayoutRecord:
        """Return the payout, the end of its hold, here or at the bank, and its returns."""
        about = self.payout
        is_held = about.state in {PayoutState.ACCEPTED, PayoutState.HELD}
        held = about.held_until if is_held else None
        since: SinceFields = {
            "held_until": instant(held),
            "returns": [struct_of(PayoutReturnDocument, each) for each in self.returns],
        }
        if about.owner is not None:
            since["owner"] = about.owner.document(about.destination)
        if about.moved is not None:
            since["moved"] = about.moved
            since["difference"] = _difference(about.moved, about)
        return {**AccountPayout(self.account, about).to_document(reader), **since}


def _difference(moved: Money, about: Payout) -> Money:
    """Return the amount moved beyond the order; negative for less."""
    return Money(moved.centavos - about.value.centavos)


ShownState = Annotated[PayoutState, Meta(extra_json_schema={"example": "paid"})]
ShownCertainty = Annotated[Certainty, Meta(extra_json_schema={"example": "settled"})]


class ProbedDocument(Struct, frozen=True):
    """A payout after a query of its bank, and its state before."""

    before: PayoutState
    state: ShownState
    certainty: ShownCertainty
    payout: PayoutDocument


@dataclass(frozen=True, slots=True)
class Probed:
    """A payout of an account before and after a status query."""

    account: Account
    before: Payout
    after: Payout

    def to_document(self, reader: object) -> ProbedDocument:
        """Return the document with the state now and before."""
        return ProbedDocument(
            before=self.before.state,
            state=self.after.state,
            certainty=certainty_of(self.after),
            payout=AccountPayout(self.account, self.after).to_document(reader),
        )


class Orderer(Struct, frozen=True):
    """
    A user, or a partner's credential, which has no ``email``.

    ``name`` is empty where it is not known any more.
    """

    id: fields.Id
    name: Annotated[str, Meta(description="Name, as people know it.", examples=["Maria Silva"])]
    email: Annotated[
        str, Meta(description="The user's e-mail address.", examples=["maria@example.com"])
    ]

    @classmethod
    def of(cls, client_id: str, name: str = "", email: str = "") -> Orderer:
        """Return the orderer for a payout's ``client_id``."""
        return cls(client_id.removeprefix(USER_CLIENT), name, email)


class FoundPayoutDocument(Struct, frozen=True, kw_only=True):
    """
    A payout in a list; ``payee_tax_number`` of a person has its ends hidden.

    ``failure_code`` is empty while it has not failed; ``e2e_id`` until the bank has named it.
    ``moved`` is what the bank has moved for it, zero until it is ``paid``; ``returned`` is how much
    of that came back.
    """

    account_id: fields.AccountId
    account_name: Annotated[str, Meta(description="The name of the account.", examples=["Matriz"])]
    reference: fields.Reference
    method: Annotated[
        Literal["pix", "bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]
    value: Sum
    moved: Sum
    returned: Sum
    payee_name: Annotated[str, Meta(description="The recipient's name.", examples=["Maria Silva"])]
    payee_tax_number: Annotated[
        str,
        Meta(
            description="The recipient's CPF or CNPJ, a CPF in part.", examples=["***.982.247-**"]
        ),
    ]
    status: Annotated[PayoutStatus, Meta(extra_json_schema={"example": "paid"})]
    state: ShownState
    certainty: ShownCertainty
    review: fields.NeedsReview
    failure_code: Annotated[
        str, Meta(description="Why it failed; empty where it has not.", examples=[""])
    ]
    provider: fields.Provider
    client_id: fields.ClientId
    ordered_by: Orderer
    e2e_id: fields.E2eId
    created_at: OptionalMoment
    updated_at: OptionalMoment
    settled_at: OptionalMoment

    @property
    def amount(self) -> Sum:
        """The amount that the bank moved, or the ordered amount before it moved any."""
        return self.moved if self.moved.centavos else self.value


@dataclass(frozen=True, slots=True)
class FoundPayout:
    """A payout with its account's name, its returned amount and its orderer."""

    payout: Payout
    account_name: str
    returned: Sum = ZERO
    ordered_by: Orderer | None = None

    def to_document(self, _reader: object) -> FoundPayoutDocument:
        """Return the document in a list."""
        payout, (name, tax_number) = self.payout, self.payout.payee
        return struct_of(
            FoundPayoutDocument,
            payout,
            account_name=self.account_name,
            moved=Sum(payout.moved_value.centavos) if payout.state is PayoutState.PAID else ZERO,
            returned=self.returned,
            ordered_by=self.ordered_by or Orderer.of(payout.client_id),
            payee_name=name,
            payee_tax_number=tax_number,
            status=status_of(payout.state),
            certainty=certainty_of(payout),
            failure_code=payout.failure.code.value if payout.failure else "",
        )


def track_word(state: str, certainty: str) -> str:
    """Return the certainty track's word for a state and its proof."""
    if certainty in {*UNSENT, Certainty.DECIDED_UNPAID}:
        return certainty
    return "settled" if state == PayoutState.PAID else state


def is_open(payouts: Iterable[FoundPayoutDocument]) -> bool:
    """Return whether any of the states is still open."""
    return any(each.state not in FINAL_STATES for each in payouts)


class StateCount(Struct, frozen=True, kw_only=True):
    """
    Number and totals of the payouts in one state; ``returned``: money came back.

    ``value`` is the sum ordered, ``moved`` what the bank has moved, zero for what is not ``paid``,
    and ``returned_value`` how much of that came back.
    """

    state: ShownState
    certainty: ShownCertainty
    review: fields.NeedsReview
    returned: Annotated[bool, meaning("Whether money of them came back.")]
    count: Annotated[int, meaning("How many.", ge=1)]
    value: Sum
    moved: Sum
    returned_value: Sum


class PayoutCounts(Struct, frozen=True):
    """
    Numbers of payouts by state for the filter, without its state, certainty and review.

    Where ``complete`` is false there are more than 10,000: the newest are counted.
    """

    by_state: Annotated[list[StateCount], meaning("Number and sum by state of the payout.")]
    complete: Annotated[
        bool, meaning("Whether everything was counted; a large search is counted in part.")
    ]


class PayoutsFoundDocument(Struct, frozen=True):
    """A page; ``next`` is the ``after`` of the next one, empty at the end."""

    data: Annotated[list[FoundPayoutDocument], meaning("The rows of this page.")]
    counts: PayoutCounts
    next: Annotated[
        str,
        Meta(
            description=(
                "Where the next page begins; send it as `cursor` or `after`. Empty on the "
                "last page."
            ),
            examples=[""],
        ),
    ]


@dataclass(frozen=True, slots=True)
class PayoutsFound:
    """A page of a search, and the position of the next; see ``PayoutsFoundDocument``."""

    payouts: Sequence[FoundPayout]
    counts: PayoutCounts
    after: str

    def to_document(self, reader: object) -> PayoutsFoundDocument:
        """Show the page."""
        data = [each.to_document(reader) for each in self.payouts]
        return PayoutsFoundDocument(data, self.counts, self.after)


class Hit(StrEnum):
    """State of a payout that is affected by its bank's failure."""

    UNKNOWN = "unknown"
    WAITING = "waiting"
    NOT_SENT = "not_sent"
    NOT_EXECUTED = "not_executed"


class HitPayouts(Struct, frozen=True):
    """Payouts of one account that stand alike at a bank which fails, and their sum."""

    account_id: str
    hit: Hit
    count: int
    value: Sum


def sums_of(hit: Sequence[HitPayouts]) -> Sequence[tuple[str, int, Sum]]:
    """Sum payouts over accounts by state: number and total."""
    return [
        (each.value, sum(one.count for one in own), sum_of(one.value for one in own))
        for each in Hit
        for own in [[one for one in hit if one.hit is each]]
    ]


class OpenWork(Struct, frozen=True):
    """
    Number of items that wait for you: to query, decide, collect or lift.

    ``unresolved`` holds those in ``review``, and ``approvals`` secrets to collect.
    """

    unresolved: Annotated[int, meaning("Payouts whose outcome is not proven.")]
    review: Annotated[int, meaning("Payouts that people decide on.")]
    approvals: Annotated[int, meaning("Orders that wait for a decision.")]
    stops: Annotated[int, meaning("Kill switches in force.")]


@dataclass(frozen=True, slots=True)
class PayoutsAlike:
    """
    Payouts similar to an ordered one, without that payout; newest first.

    Attributes:
        to_recipient: To the same tax number, of the last thirty days; at most as many as a
            search shows.
        same_value: Payouts of the same value and account today, in local days.
    """

    to_recipient: Sequence[FoundPayout] = ()
    same_value: Sequence[FoundPayout] = ()


class EvidenceDocument(Struct, frozen=True):
    """
    The evidence of one call that moves money.

    ``bytes_left`` false is proof that nothing was sent; ``reason`` is a word of ours, and
    ``provider_code`` the bank's own. ``http_status`` is 0 where the bank has not answered.
    """

    phase: Annotated[
        Literal["refused_here", "connecting", "connected", "sent", "answered"],
        meaning("How far the call to the bank came."),
    ]
    bytes_left: fields.BytesLeft
    reason: fields.Reason
    http_status: fields.HttpStatus
    provider_code: fields.ProviderCode


class AttemptDocument(Struct, frozen=True, kw_only=True):
    """
    One try to pay; nothing of it is sent after ``send_deadline``.

    While it runs, ``outcome`` is empty and there is no evidence.
    """

    number: fields.Number
    provider: fields.Provider
    started_at: OptionalMoment
    ended_at: OptionalMoment
    send_deadline: OptionalMoment
    outcome: Annotated[str, Meta(description="How it ended.", examples=["unknown"])]
    evidence: EvidenceDocument | UnsetType = UNSET
    trace_id: fields.TraceId
    last_probe_at: OptionalMoment
    next_probe_at: OptionalMoment

    @classmethod
    def of(cls, found: Attempt, about: Payout, **more: str) -> Self:
        """Return the document of an attempt; final payouts and old attempts have no next check."""
        is_open = found.number == about.attempt and about.state not in FINAL_STATES
        return struct_of(
            cls,
            found,
            outcome=found.outcome or "",
            evidence=UNSET if found.evidence is None else _evidence(found.evidence),
            next_probe_at=found.next_probe_at if is_open else None,
            **more,
        )


def _evidence(found: Evidence) -> EvidenceDocument:
    return struct_of(EvidenceDocument, found, http_status=found.http_status or 0)


class OpinionDocument(Struct, frozen=True, kw_only=True):
    """
    A user's finding; ``moved`` is absent where no money moved, or the amount ordered.

    One that is ``withdrawn`` does not count.
    """

    by: fields.SaidBy
    verdict: Annotated[Literal["paid", "failed"], meaning("What was found: `paid` or `failed`.")]
    moved: Sum | UnsetType = UNSET
    reason: fields.Reason
    at: OptionalMoment
    withdrawn: Annotated[bool, meaning("Whether it was taken back.")]

    @classmethod
    def of(cls, found: Opinion) -> OpinionDocument:
        """Return the document of an opinion."""
        moved = UNSET if found.moved is None else found.moved
        return struct_of(cls, found, moved=moved, withdrawn=found.is_withdrawn)


class SimilarDocument(Struct, frozen=True):
    """Another payout of the same amount and recipient, of about the same time."""

    reference: fields.Reference
    state: fields.State
    value: Sum
    created_at: OptionalMoment


class PayingAccount(Struct, frozen=True):
    """The account that a payout is paid from."""

    name: fields.CompanyName
    tax_number: fields.CompanyTaxNumber


class ShownMoveDocument(Struct, frozen=True):
    """An amount moved in contradiction to the order; ``difference`` is it less the order."""

    value: Sum
    difference: Sum
    at: OptionalMoment
    e2e_id: fields.E2eId


class DossierDocument(Struct, frozen=True, kw_only=True):
    """
    A payout, and everything that is known of it.

    ``bank_shows`` is there while it is in review and the bank shows another movement than ordered.

    ``certainty`` is the proven state; ``review`` means that two users have to decide. From
    ``absent_at`` on "not found" proves that the latest try moved nothing; it is empty where nothing
    proves it, and where the payout is not unknown. Lists are oldest first. While it is in review,
    ``opinions`` has yours alone. ``approved_by`` is absent where no second person was asked, and
    ``approval_id`` empty.
    """

    payout: PayoutRecord
    account: PayingAccount
    state: fields.State
    certainty: ShownCertainty
    review: fields.NeedsReview
    archived: Annotated[
        bool,
        Meta(
            description="Its tries, and what was sent in full, are in a file of the archive.",
            examples=[False],
        ),
    ]
    bank_shows: ShownMoveDocument | UnsetType = UNSET
    provider: fields.Provider
    provider_key: fields.ProviderKey
    provider_id: fields.ProviderId
    client_id: fields.ClientId
    ordered_by: Orderer
    approved_by: Orderer | UnsetType = UNSET
    approval_id: Annotated[
        str,
        Meta(
            description="The order that a second person approved; empty where none was asked for.",
            examples=[""],
        ),
    ]
    updated_at: OptionalMoment
    absent_at: OptionalMoment
    attempts: Annotated[list[AttemptDocument], meaning("Each try to send it, oldest first.")]
    similar: Annotated[
        list[SimilarDocument], meaning("Payouts like this one, shortly before or after.")
    ]
    opinions: Annotated[
        list[OpinionDocument],
        meaning("What people found at the bank; of others only when it is decided."),
    ]
    timeline: Annotated[list[HappeningDocument], meaning("What happened, oldest first.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutPeople:
    """
    The orderer of a payout, its approver and the approval, if one was needed.

    Attributes:
        ordered_at: The time of the approved order; its payout was made at the approval.
    """

    ordered_by: Orderer
    approved_by: Orderer | None = None
    approval_id: str = ""
    ordered_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutDetail:
    """
    All details of one payout that a user may read.

    Attributes:
        attempts, opinions, timeline: Oldest first.
        returns: Its returns, oldest first.
        similar: Others of the same amount and recipient, created shortly before or after under
            another reference.
        shown: The movement that the bank shows in contradiction to the order; None for none.
        absent_at: From when "not found" is a proof; None for never.
    """

    account: Account
    payout: Payout
    attempts: Sequence[Attempt]
    similar: Sequence[Payout]
    opinions: Sequence[Opinion]
    returns: Sequence[PixReturn]
    timeline: Sequence[HappeningDocument] = ()
    shown: ShownMove | None = None
    absent_at: datetime | None = None
    people: PayoutPeople | None = None

    def to_document(self, reader: object) -> DossierDocument:
        """Return the document of all details."""
        about, shown = self.payout, self.shown if self.payout.review else None
        people = self.people or PayoutPeople(ordered_by=Orderer.of(about.client_id))
        return struct_of(
            DossierDocument,
            about,
            payout=PayoutWithReturns(self.account, about, self.returns).to_document(reader),
            account=struct_of(PayingAccount, self.account),
            certainty=certainty_of(about),
            bank_shows=UNSET
            if shown is None
            else struct_of(
                ShownMoveDocument,
                shown,
                difference=_difference(shown.value, about),
                at=shown.at and shown.at.astimezone(UTC),
            ),
            ordered_by=people.ordered_by,
            approved_by=people.approved_by or UNSET,
            approval_id=people.approval_id,
            absent_at=self.absent_at,
            attempts=[AttemptDocument.of(each, about) for each in self.attempts],
            similar=[struct_of(SimilarDocument, each) for each in self.similar],
            opinions=[OpinionDocument.of(each) for each in self.opinions],
            timeline=list(self.timeline),
        )


class PayoutList(TypedDict):
    """A page of payouts, newest created first."""

    data: Annotated[list[PayoutDocument], meaning("The rows of this page.")]
    meta: Meter


def payout_created(found: Payout, caller: OfAccount) -> PayoutDocument:
    """Show a payout as its creation answers: processing, even if it has ended."""
    shown = payout(found, caller)
    shown["status"], shown["settled_at"] = "processing", ""
    shown.pop("failure", None)
    return shown


def payout(found: Payout, caller: OfAccount) -> PayoutDocument:
    """Show a payout (contract 2.6)."""
    return payout_document(found, account_document(caller.account))


def payouts(found: Listed[ListedPayout], caller: OfAccount) -> PayoutList:
    """Show a page of payouts."""
    origin = account_document(caller.account)
    return {
        "data": [payout_document(each, origin) for each in found.items],
        "meta": meter(found.paging, found.total),
    }


def nothing(_found: Never, _caller: OfAccount) -> PayoutDocument:
    """Return nothing: the operation always refuses."""
    raise NotImplementedError
