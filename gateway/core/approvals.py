"""Approvals: orders of one user that wait until another user approves them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated, Final, Literal, NotRequired, Protocol, TypedDict

from msgspec import Meta, Struct

from gateway.core import fields
from gateway.core.access import Staff
from gateway.core.caller_rules import CallerRule
from gateway.core.company_scope import scope_of
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.permissions import Action
from gateway.core.public_keys import KeyId, PublicKey
from gateway.core.rights import Area, Right, rights_of
from gateway.core.schemas import Instant, instant
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.windows import Paging


class ApprovalKind(StrEnum):
    """Kind of an order."""

    PAYOUT = "payout"
    REFUND = "refund"
    BATCH = "batch"
    CREDENTIAL_ISSUE = "credential_issue"
    CREDENTIAL_ROTATION = "credential_rotation"
    CREDENTIAL_LIMITS = "credential_limits"
    CREDENTIAL_CALLERS = "credential_callers"
    CREDENTIAL_KEY = "credential_key"
    INVITATION = "invitation"
    ROLES = "roles"
    COMPANIES = "companies"
    ENABLING = "enabling"
    FACTOR_RESET = "factor_reset"
    FACTOR_REMOVAL = "factor_removal"
    SINGLE_SIGN_ON = "single_sign_on"
    SINGLE_SIGN_ON_REMOVAL = "single_sign_on_removal"
    ACCOUNT_BANK = "account_bank"
    ENDPOINT = "endpoint"
    ENDPOINT_CHANGE = "endpoint_change"
    ENDPOINT_SECRET = "endpoint_secret"  # noqa: S105 - a kind


CREDENTIALS: Final = frozenset(
    {
        ApprovalKind.CREDENTIAL_ISSUE,
        ApprovalKind.CREDENTIAL_ROTATION,
        ApprovalKind.CREDENTIAL_LIMITS,
        ApprovalKind.CREDENTIAL_CALLERS,
    }
)
"""Orders about credentials, but for their public keys."""

ENDPOINTS: Final = frozenset(
    {ApprovalKind.ENDPOINT, ApprovalKind.ENDPOINT_CHANGE, ApprovalKind.ENDPOINT_SECRET}
)
"""Orders about partners' endpoints."""

PEOPLE: Final = frozenset(
    {
        ApprovalKind.INVITATION,
        ApprovalKind.ROLES,
        ApprovalKind.COMPANIES,
        ApprovalKind.ENABLING,
        ApprovalKind.FACTOR_RESET,
    }
)
"""Orders about users."""

SIGN_ON: Final = frozenset({ApprovalKind.SINGLE_SIGN_ON, ApprovalKind.SINGLE_SIGN_ON_REMOVAL})
"""Orders about the identity providers of companies."""

_CREDENTIALS: Final = Right(Area.CREDENTIAL, Action.WRITE)
_USERS: Final = Right(Area.USER, Action.MANAGE)
_ENDPOINTS: Final = Right(Area.ENDPOINT, Action.WRITE)
NEEDED: Final[Mapping[ApprovalKind, Right]] = {
    ApprovalKind.PAYOUT: Right(Area.PAYOUT, Action.WRITE),
    ApprovalKind.REFUND: Right(Area.REFUND, Action.WRITE),
    ApprovalKind.BATCH: Right(Area.PAYOUT, Action.WRITE),
    ApprovalKind.CREDENTIAL_ISSUE: _CREDENTIALS,
    ApprovalKind.CREDENTIAL_ROTATION: _CREDENTIALS,
    ApprovalKind.CREDENTIAL_LIMITS: _CREDENTIALS,
    ApprovalKind.CREDENTIAL_CALLERS: _CREDENTIALS,
    ApprovalKind.CREDENTIAL_KEY: _CREDENTIALS,
    ApprovalKind.INVITATION: _USERS,
    ApprovalKind.ROLES: _USERS,
    ApprovalKind.COMPANIES: _USERS,
    ApprovalKind.ENABLING: _USERS,
    ApprovalKind.FACTOR_RESET: _USERS,
    ApprovalKind.SINGLE_SIGN_ON: _USERS,
    ApprovalKind.SINGLE_SIGN_ON_REMOVAL: _USERS,
    ApprovalKind.ACCOUNT_BANK: Right(Area.PROVIDER, Action.WRITE),
    ApprovalKind.ENDPOINT: _ENDPOINTS,
    ApprovalKind.ENDPOINT_CHANGE: _ENDPOINTS,
    ApprovalKind.ENDPOINT_SECRET: _ENDPOINTS,
}
"""
The right to order each kind; an order is void once its orderer has lost it.

Everybody may order the removal of their own second factor.
"""

MONEY: Final = frozenset({ApprovalKind.PAYOUT, ApprovalKind.REFUND, ApprovalKind.BATCH})
"""Orders that move money."""

CREDENTIAL_SECRETS: Final = frozenset(
    {ApprovalKind.CREDENTIAL_ISSUE, ApprovalKind.CREDENTIAL_ROTATION}
)
ENDPOINT_SECRETS: Final = frozenset({ApprovalKind.ENDPOINT, ApprovalKind.ENDPOINT_SECRET})
WITH_SECRET: Final = CREDENTIAL_SECRETS | ENDPOINT_SECRETS
"""Carried out when the orderer fetches the secret."""


COLLECTED_WITHIN: Final = timedelta(minutes=15)
"""After the approval: long enough to fetch a secret at once, too short to forget about it."""


class ApprovalState(StrEnum):
    """Where it stands; all but ``waiting`` are final."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    VOID = "void"


class Outcome(StrEnum):
    """
    The outcome of an approved order.

    NONE: It was not approved, is being carried out, or its secret was not fetched.
    DONE: It was carried out; nothing of it moves money.
    MOVED: The bank has taken the order, or has paid.
    REFUSED: Nothing moved, and nothing will; the code is the reason.
    NOT_SENT: Certainly nothing moved; approving it again tries again.
    UNKNOWN: Money may have moved; it is looked up.
    """

    NONE = ""
    DONE = "done"
    MOVED = "moved"
    REFUSED = "refused"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"


class VoidReason(StrEnum):
    """Why an order is void, in words for people; NONE while it holds."""

    NONE = ""
    ORDERER_DISABLED = "The person who ordered it has been disabled."
    RIGHT_LOST = "The person who ordered it is no longer allowed to."
    COMPANY_LOST = "The person who ordered it no longer has access to the company."
    PERSON_CHANGED = "The person has been changed since."
    CREDENTIAL_CHANGED = "The credential has been changed since."
    BANK_CHANGED = "The bank of the account or its credentials have changed since."
    ENDPOINT_CHANGED = "The endpoint has been changed since."
    SIGN_ON_CHANGED = "The single sign-on of the company has been changed since."
    BATCH_ENDED = "The file of payouts has been cancelled since."


OPEN: Final = frozenset({Outcome.NONE, Outcome.UNKNOWN})
"""Outcomes of approved orders that may have moved money: no failed repetition closes them."""


class OutcomeDocument(TypedDict):
    """The outcome of an approved order; the code is a refusal's."""

    status: Annotated[
        Literal["", "done", "moved", "refused", "not_sent", "unknown"],
        meaning("The state that it is in.", "done"),
    ]
    code: Annotated[
        str, meaning("Code of the error with which the order failed; empty otherwise.", "")
    ]


class ApprovalDocument(TypedDict):
    """
    An order that waits for another user, or its outcome.

    ``subject`` is an account, a credential, a user. Until
    ``secret_until`` the user who ordered it may fetch the secret, once.
    """

    id: fields.Id
    status: Annotated[
        Literal["waiting", "approved", "rejected", "expired", "withdrawn", "void"],
        meaning("The state that it is in."),
    ]
    kind: Annotated[
        str,
        Meta(
            description="Which kind it is.",
            extra_json_schema={"enum": sorted(map(str, ApprovalKind))},
        ),
    ]
    company_id: fields.CompanyId
    account_id: fields.AccountId
    subject: fields.Subject
    reference: fields.Reference
    value: Sum
    ordered_by: Annotated[str, meaning("Who ordered it.", "user:ana@example.com")]
    ordered_at: Instant
    ends_at: Instant
    decided_by: Annotated[str, meaning("Who decided; empty before.", "user:bia@example.com")]
    decided_at: Instant
    reason: fields.Reason
    outcome: OutcomeDocument
    secret_until: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """
    An order that waits for approval, or its result. It is not a payout yet: no partner sees it.

    Attributes:
        id: A lower-case UUID.
        account_id: None where no account is meant.
        company_id: None where several companies or all are: only people without limits see it.
        subject: An account, a credential or a user; the order itself where that does not exist yet.
        reference: The order's own; one order of a kind and subject waits under it.
        centavos: None where no money moves.
        sealed_order: The whole order as JSON, encrypted with the id bound to it.
        ordered_by: The user id; ``orderer`` is how the audit log names them.
        ends_at: It cannot be approved from then on.
        decided_by, decider: The decider, in the same forms; empty while it waits.
        reason: Why it was rejected or withdrawn, or is void.
        outcome_code: The public code of a refusal.
        collected_at: When its secret was fetched.
    """

    id: str
    kind: ApprovalKind
    account_id: str | None = None
    company_id: str | None = None
    subject: str
    reference: str = ""
    centavos: int | None = None
    sealed_order: bytes = field(repr=False)
    ordered_by: str
    orderer: str
    ordered_at: datetime
    ends_at: datetime
    state: ApprovalState = ApprovalState.WAITING
    decided_by: str = ""
    decider: str = ""
    decided_at: datetime | None = None
    reason: str = ""
    outcome: Outcome = Outcome.NONE
    outcome_code: str = ""
    collected_at: datetime | None = None

    @property
    def value(self) -> Money:
        """The money it moves; zero if it moves none."""
        return Money(self.centavos or 0)

    @property
    def moves_money(self) -> bool:
        """Return whether it is a payout, a refund or a file of payouts."""
        return self.kind in MONEY

    @property
    def is_open(self) -> bool:
        """Return whether it can still be approved: it waits, or nothing was sent."""
        return self.state is ApprovalState.WAITING or self.outcome is Outcome.NOT_SENT

    @property
    def collected_until(self) -> datetime | None:
        """Return until when its secret can be fetched; None without a secret."""
        wanted = self.state is ApprovalState.APPROVED and self.kind in WITH_SECRET
        if not wanted or self.decided_at is None or self.collected_at is not None:
            return None
        return self.decided_at + COLLECTED_WITHIN

    def to_document(self, _reader: Staff) -> ApprovalDocument:
        """Return all fields but the order itself; ``OrderedApproval`` includes it."""
        return self.document

    @property
    def document(self) -> ApprovalDocument:
        """The fields that everybody sees who may read the order."""
        return {
            "id": self.id,
            "status": self.state.value,
            "kind": self.kind.value,
            "company_id": self.company_id or "",
            "account_id": self.account_id or "",
            "subject": self.subject,
            "reference": self.reference,
            "value": self.value,
            "ordered_by": self.orderer,
            "ordered_at": instant(self.ordered_at),
            "ends_at": instant(self.ends_at),
            "decided_by": self.decider,
            "decided_at": instant(self.decided_at),
            "reason": self.reason,
            "outcome": {"status": self.outcome.value, "code": self.outcome_code},
            "secret_until": instant(self.collected_until),
        }


@dataclass(frozen=True, slots=True)
class WaitingMoney:
    """
    Payouts, refunds and files of payouts of one account that wait for another user.

    Attributes:
        count, value: Of all waiting orders.
        oldest: At most 25, the oldest first.
    """

    count: int = 0
    value: Sum = field(default_factory=lambda: Sum(0))
    oldest: Sequence[Approval] = ()


def why_void(orderer: User | None, approval: Approval) -> VoidReason:
    """Return why its orderer may no longer order it; NONE while they may."""
    if orderer is None or not orderer.active:
        return VoidReason.ORDERER_DISABLED
    needed = NEEDED.get(approval.kind)
    if needed and not any(right.covers(needed) for right in rights_of(orderer.roles)):
        return VoidReason.RIGHT_LOST
    if approval.company_id and not scope_of(orderer.companies).includes(approval.company_id):
        return VoidReason.COMPANY_LOST
    return VoidReason.NONE


class ReceivedDocument(TypedDict):
    """The payment that a refund gives back, as the bank reported it when the refund was ordered."""

    value: Sum
    payer_name: Annotated[str, meaning("Who paid, as the bank said when the refund was ordered.")]
    payer_tax_number: Annotated[
        str, meaning("CPF or CNPJ of the payer; of a person its ends are hidden.")
    ]


class OddDocument(TypedDict):
    """Payouts of a file with one thing that stands out."""

    odd: Annotated[str, meaning("What stands out.", "new_payee")]
    payouts: Annotated[int, meaning("How many payouts.", 3)]
    value: Sum


class LargestDocument(TypedDict):
    """One of the largest payouts of a file; a person's tax number is hidden in part."""

    number: Annotated[int, meaning("The row of the file; the header is row 1.", 2)]
    reference: fields.Reference
    value: Sum
    name: fields.PersonName
    tax_number: fields.PersonTaxNumber
    odd: Annotated[list[str], meaning("What stands out, in words.", ["new_payee"])]


class BatchOrderDocument(TypedDict):
    """A file of payouts, as it was ordered."""

    id: fields.Id
    name: Annotated[str, meaning("Name of the file.", "salarios.csv")]
    payouts: Annotated[int, meaning("How many payouts.", 250)]
    odd: Annotated[list[OddDocument], meaning("What stands out, each with how many payouts.")]
    largest: Annotated[list[LargestDocument], meaning("The largest payouts, at most ten.")]


class OrderDocument(TypedDict):
    """
    An order, in the fields of its kind; never a secret.

    Of money: where it is to go, or which payment is given back. A person's tax number and key are
    whole for users who may decide on a waiting order, and hidden for all others; ``owner`` is
    absent without a query to a bank; ``received`` where its bank did not report it. ``batch`` is a
    file of payouts: how many, what stands out, the largest. Of a
    credential: what it may do, and the only account it reaches; none for every account of its
        company. Of a
    person: what they are to be. ``roles`` are those that are given; where companies or
    enabling are ordered, those that the person has. ``companies`` are all that the person
    sees then, an empty list every one; ``companies_before`` are those until then. Of an account's
    bank: where the account is to stand, and where it stood; an empty ``provider`` is no bank.
    ``with_credentials`` says whether secrets came with the order. Of an endpoint: where events
    are to go and where they went, which types, and of which accounts; an empty list is all. Of
    single sign-on: what it is to be, and what it was; a removal has the latter alone.
    """

    method: NotRequired[
        Annotated[
            Literal["pix", "bank_account", "refund"],
            meaning("How the money is paid: `pix` or `bank_account`."),
        ]
    ]
    date: NotRequired[
        Annotated[str, meaning("The payout's date, a day in UTC: today.", "2026-11-20")]
    ]
    description: NotRequired[fields.Description]
    destination: NotRequired[Annotated[Mapping[str, str], meaning("Where the money goes.")]]
    owner: NotRequired[NamedOwnerDocument]
    payment: NotRequired[
        Annotated[str, meaning("The payout or refund that was ordered.", "order-1042")]
    ]
    received: NotRequired[ReceivedDocument]
    batch: NotRequired[BatchOrderDocument]
    client_id: NotRequired[fields.ClientId]
    name: NotRequired[fields.PersonName]
    account_id: NotRequired[fields.AccountId]
    permissions: NotRequired[fields.Permissions]
    expires_at: NotRequired[Instant]
    limit_per_payout: NotRequired[Sum]
    limit_per_day: NotRequired[Sum]
    limit_per_payout_at_night: NotRequired[Sum]
    limit_per_night: NotRequired[Sum]
    callers: NotRequired[Annotated[CallerRule, meaning("Where it may be used.")]]
    public_key: NotRequired[Annotated[PublicKey, meaning("The public key to register.")]]
    removed_key: NotRequired[Annotated[KeyId, meaning("The last public key, to be removed.")]]
    overlap_s: NotRequired[Annotated[int, meaning("Seconds for which the old secret stays valid.")]]
    user_id: NotRequired[fields.UserId]
    email: NotRequired[fields.Email]
    roles: NotRequired[fields.Roles]
    companies: NotRequired[fields.Companies]
    companies_before: NotRequired[
        Annotated[list[str], meaning("The same before the order.", [fields.ID])]
    ]
    provider: NotRequired[fields.Provider]
    provider_account: NotRequired[fields.ProviderAccount]
    provider_before: NotRequired[Annotated[str, meaning("The bank before the order.")]]
    provider_account_before: NotRequired[Annotated[str, meaning("The same before the order.")]]
    with_credentials: NotRequired[
        Annotated[bool, meaning("Whether the order brings new secrets: of bank or provider.")]
    ]
    certificate_ends_at: NotRequired[Instant]
    endpoint_id: NotRequired[Annotated[str, meaning("The endpoint.", fields.ID)]]
    url: NotRequired[
        Annotated[str, meaning("Where events are delivered.", "https://events.example.com/pix")]
    ]
    types: NotRequired[
        Annotated[list[str], meaning("Types of events; empty for all.", ["payout.paid"])]
    ]
    account_ids: NotRequired[
        Annotated[list[str], meaning("Accounts that are told of; empty for all.", [fields.ID])]
    ]
    url_before: NotRequired[Annotated[str, meaning("The same before the order.")]]
    types_before: NotRequired[
        Annotated[list[str], meaning("The same before the order.", ["payout.paid"])]
    ]
    account_ids_before: NotRequired[
        Annotated[list[str], meaning("The same before the order.", [fields.ID])]
    ]
    single_sign_on: NotRequired[SignOnDocument]
    single_sign_on_before: NotRequired[SignOnDocument]


def without_history(order: OrderDocument) -> OrderDocument:
    """
    Return an order as whoever gave it, or may not decide on any, sees it.

    It is without what tells of earlier payouts: orders for one tax number after another would
    complete a hidden one.
    """
    if "batch" not in order:
        return order
    largest = [LargestDocument(**{**each, "odd": []}) for each in order["batch"]["largest"]]
    return {**order, "batch": {**order["batch"], "odd": [], "largest": largest}}


class OrderedDocument(TypedDict):
    """An order that waits, with all of its content."""

    approval: ApprovalDocument
    order: OrderDocument


@dataclass(frozen=True, slots=True)
class OrderedApproval:
    """An approval and its order, as its reader may see it."""

    approval: Approval
    order: OrderDocument

    def to_document(self, reader: Staff) -> OrderedDocument:
        """Return the document of both."""
        return {"approval": self.approval.to_document(reader), "order": self.order}


class RejectionBody(Struct):
    """Why; it stays on record."""

    reason: Annotated[
        str, meaning("Why; for people who read it later.", "asked for by telephone", max_length=500)
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSearch:
    """
    Which approvals.

    Attributes:
        state: None for all.
    """

    paging: Paging
    state: ApprovalState | None = None


@dataclass(frozen=True, slots=True)
class SecretCollection:
    """
    The single read of the secret that an approved order made.

    Attributes:
        approved_after: It holds only if the order was approved later than that.
    """

    approval_id: str
    at: datetime

    @property
    def approved_after(self) -> datetime:
        """The earliest approval whose secret can still be collected."""
        return self.at - COLLECTED_WITHIN


Approved = tuple[SecretCollection, Approval]
"""The single read of a secret, and the order that it is of."""


def decider_of(approved: Approved | None) -> str:
    """Return who approved an order, for mail; empty where it took one person."""
    return approved[1].decider if approved else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOrder:
    """
    An order that needs a second person.

    Attributes:
        text: The order as JSON, for the executor of its kind; it is sealed while it waits.
        company_id, account_id, subject: See ``Approval``; None where there is none.
    """

    kind: ApprovalKind
    text: str
    company_id: str | None = None
    account_id: str | None = None
    subject: str | None = None
    reference: str = ""
    centavos: int | None = None


Wait = Callable[[SignedInUser, NewOrder], Awaitable[Approval]]
"""
Let an order of a user wait.

Raises:
    ServiceError: ``SVC.GTW.009`` when an order of its kind, subject and reference waits already.
"""


def second_person(
    wait: Wait | None, who: Staff
) -> Callable[[NewOrder], Awaitable[Approval]] | None:
    """Return the function that stores the caller's order; None if it is executed at once."""
    return None if wait is None or who.person is None else partial(wait, who.person)


class Executor(Protocol):
    """
    Checks, executes and shows the orders of one noun.

    ``text`` is the order as the noun has written it.
    """

    async def check_again(self, approval: Approval, text: str) -> VoidReason:
        """
        Refuse an order that is impossible by now.

        Returns:
            Why the order is void; NONE while it holds.
        """
        ...

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Execute the order in the name of the user who gave it; safe to repeat."""
        ...

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document; never with a secret."""
        ...


class SignOnDocument(TypedDict):
    """
    The identity provider of a company; never its secret.

    ``mapping`` has a value of the claim and the role that it gives, with `` = `` between.
    """

    short_name: Annotated[str, meaning("What people type to find it.", "loja-exemplo")]
    domains: Annotated[list[str], meaning("Domains of e-mail.", ["loja.example.com"])]
    issuer: Annotated[str, meaning("The `iss` of its tokens.", "https://sso.example.com")]
    client_id: Annotated[str, meaning("The client that the gateway is there.", "pixgate")]
    scopes: Annotated[list[str], meaning("Further scopes that are asked for.", ["groups"])]
    claim: Annotated[str, meaning("The claim that gives roles.", "groups")]
    mapping: Annotated[
        list[str], meaning("What the values of the claim give.", ["pix-operators = operator"])
    ]
    factor_acr: Annotated[list[str], meaning("Trusted values of `acr`.", ["2"])]
    factor_amr: Annotated[list[str], meaning("Trusted values of `amr`.", ["mfa"])]
    break_glass: Annotated[
        list[str], meaning("Ids of users who may sign in without it.", [fields.ID])
    ]


class NamedOwnerDocument(TypedDict):
    """
    The owner of a key, as the bank named them when the payout was ordered.

    ``bank`` is the bank of the key, empty where it is not known. ``differs``: the tax number that
    was typed is another one; ``reason`` is why it was ordered all the same.
    """

    name: Annotated[str, Meta(description="Name, as people know it.", examples=["Maria Silva"])]
    tax_number: Annotated[
        str,
        Meta(
            description="CPF or CNPJ; what is read back may be hidden in part.",
            examples=["***.982.247-**"],
        ),
    ]
    bank: Annotated[
        str,
        Meta(
            description="The bank of the key; empty where it was not told.",
            examples=["Banco Exemplo S.A."],
        ),
    ]
    differs: Annotated[
        bool, meaning("Whether the owner differs from the recipient that was named.")
    ]
    reason: fields.Reason
