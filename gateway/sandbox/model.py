"""What the sandbox bank is made to do, by staff and by partners, and its state."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from msgspec import Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.schemas import Instant, Reference, Text

BankOperation = Literal[
    "balance",
    "statement",
    "keys",
    "charge",
    "payment",
    "payout",
    "payout_read",
    "refund",
    "refund_read",
    "callbacks",
    "access",
    "*",
]
"""What can be made to fail; ``*`` is every call."""

CallFault = Literal[
    "reject",
    "hang",
    "hang_after",
    "reset_before",
    "reset_after",
    "drip",
    "status",
    "malformed",
    "wrong_types",
    "huge",
]
FaultKind = Literal["refuse", CallFault]
"""The ways to fail; the bank's own documentation describes each."""

PartnerFault = Literal[CallFault, "settle_late", "fail_later"]
"""
Faults of one account alone.

Not ``refuse``, which closes the bank's port to every account. The last two are outcomes of an
accepted payout, not failures of a call.
"""
FATES: Final[frozenset[PartnerFault]] = frozenset({"settle_late", "fail_later"})

OPERATIONS: Final[tuple[str, ...]] = get_args(BankOperation)
FAULTS: Final[tuple[str, ...]] = get_args(FaultKind)
DAY_S: Final = 24 * 3600


class PayBody(Struct):
    """A charge to be paid; one of an open amount needs a value."""

    account_id: Annotated[
        Text, meaning("The account, a UUID; empty where there is none.", fields.ID)
    ]
    reference: Annotated[
        str,
        meaning(
            "Your identifier of it: unique in the account, case-sensitive.",
            "order-1042",
            min_length=1,
            max_length=1024,
        ),
    ]
    value: Annotated[Money | None, meaning("Amount in reais.")] = None


class TopUpBody(Struct):
    """Money to be paid in."""

    account_id: Annotated[
        Text, meaning("The account, a UUID; empty where there is none.", fields.ID)
    ]
    value: Money


class FaultBody(Struct):
    """A fault of the bank, and its number of repetitions: every fault ends by itself."""

    operation: Annotated[BankOperation, meaning("Which operation of the bank.")]
    fault: Annotated[FaultKind, meaning("What the sandbox bank does wrong.")]
    count: Annotated[int, meaning("How many calls; seconds for `refuse`.", ge=1, le=1000)] = 1
    status: Annotated[int, meaning("The state that it is in.", 200, ge=400, le=599)] = 500


class ClockBody(Struct):
    """How far the bank's clock is ahead of ours, at most thirty days."""

    offset_s: Annotated[
        int, meaning("Seconds by which the sandbox bank's clock is ahead.", ge=0, le=30 * DAY_S)
    ]


Value = Annotated[Money | None, meaning("Amount in reais.")]


class PaymentBody(Struct):
    """
    What is paid of a charge: its amount, or ``value``.

    Less than the charge's amount, or that amount once more when it is paid, arrives and names the
    charge without paying it, as any Pix may.
    """

    value: Value = None


class DepositBody(Struct):
    """Money to be paid into the account, without a charge."""

    value: Money


class ReturnBody(Struct):
    """What comes back of a payout: ``value``, or all that is left of it."""

    value: Value = None


class PartnerFaultBody(Struct):
    """What is to go wrong once: the payout of a reference, or the next call of an operation."""

    fault: Annotated[
        PartnerFault, meaning("What goes wrong; the last two need a reference.", "reset_after")
    ]
    reference: Annotated[
        Reference | None, meaning("The payout that it is for, which is not ordered yet.")
    ] = None
    operation: Annotated[
        BankOperation, meaning("Which operation of the bank; with a reference, `payout`.")
    ] = "payout"
    status: Annotated[int, meaning("HTTP status, for `status`.", ge=400, le=599)] = 500


class NothingBody(Struct, forbid_unknown_fields=True):
    """No field: every caller gets the same."""


class Paid(Struct):
    """The payment of a charge."""

    e2e_id: fields.E2eId
    value: Sum


class Payment(Paid):
    """A payment that arrived, and whether the charge is paid by it."""

    pays: Annotated[bool, meaning("Whether it pays the charge, or only names it.")]


class Returned(Struct):
    """A payout of which money comes back."""

    reference: fields.Reference


class PartnerFaultOrdered(Struct):
    """A fault that waits for its call."""

    fault: Annotated[PartnerFault, meaning("What goes wrong.", "reset_after")]
    operation: Annotated[BankOperation, meaning("Which operation of the bank.", "payout")]
    reference: Annotated[str, meaning("The payout; empty for any call.", "order-1042")]


class SandboxCredential(Struct):
    """A company of one account with money, and a credential for it; it ends by itself."""

    account_id: fields.Id
    client_id: fields.ClientId
    client_secret: Annotated[
        str, meaning("The secret, in this answer alone.", "gws_the-secret-is-shown-this-once")
    ]
    pix_key: Annotated[
        str,
        meaning("A PIX key of the account, for charges.", "123e4567-e89b-42d3-a456-426614174000"),
    ]
    expires_at: Instant

    def __repr__(self) -> str:
        """Leave out the secret."""
        return f"SandboxCredential({self.client_id!r})"


class ToppedUp(Struct):
    """The balance after a top-up."""

    balance: Sum


class Fault(Struct):
    """A fault that waits; ``count`` is how many calls it still affects."""

    count: fields.Count
    fault: Annotated[FaultKind, meaning("What the sandbox bank does wrong.", "status")]
    operation: Annotated[BankOperation, meaning("Which operation of the bank.")]
    status: Annotated[int, meaning("The state that it is in.", 500)]


class Sandbox(Struct):
    """How the sandbox bank stands; ``offset_s`` is how far its clock is ahead."""

    faults: Annotated[list[Fault], meaning("Faults of the sandbox bank that are switched on.")]
    offset_s: Annotated[int, meaning("Seconds by which the sandbox bank's clock is ahead.")]
