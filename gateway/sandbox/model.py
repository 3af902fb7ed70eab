"""Actions and state of the sandbox bank."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from msgspec import Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.schemas import Text

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

FaultKind = Literal[
    "refuse",
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
"""The ways to fail; the bank's own documentation describes each."""

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


class Paid(Struct):
    """The payment of a charge."""

    e2e_id: fields.E2eId
    value: Sum


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
