"""Files of payouts: their rows, what stands out in them, and how far they are carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta, Struct

from gateway.core import fields, schemas
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.permissions import client_of
from gateway.core.schemas import Moment, OptionalMoment, Why
from gateway.core.windows import Paging
from gateway.payouts.model import PayoutState


class BatchState(StrEnum):
    """
    Where a file stands in the store.

    REFUSED: it has bad rows; none of it was taken.
    DRAFT: it was read; nothing was carried out.
    RUNNING: its payouts are made, one after another.
    HELD: the rest waits for a person, for a reason.
    ORDERED: no row waits any more; of some payouts the outcome is open.
    DONE: of every row it is decided what became of it.
    CANCELLED: a person ended it, or its day did.
    """

    REFUSED = "refused"
    DRAFT = "draft"
    RUNNING = "running"
    HELD = "held"
    ORDERED = "ordered"
    DONE = "done"
    CANCELLED = "cancelled"


WAITING: Final = "waiting"
"""The status of a draft that was ordered and waits for another person."""
OPEN: Final = frozenset({BatchState.DRAFT, BatchState.RUNNING, BatchState.HELD})


MOST_DRAFTS: Final = 20
"""Of a company: more than anybody orders; without a bound the store fills up with rows."""


class RowState(StrEnum):
    """
    Where a row stands in the store.

    WAITING: nothing was done for it.
    ORDERING: a worker orders its payout, or was killed while it did.
    ORDERED: its payout is stored; that says what became of it.
    REFUSED: it was refused, and there is no payout.
    CANCELLED: the file ended before.
    """

    WAITING = "waiting"
    ORDERING = "ordering"
    ORDERED = "ordered"
    REFUSED = "refused"
    CANCELLED = "cancelled"


class Progress(StrEnum):
    """
    Where the payout of a row stands, as people are told.

    HELD: ordered, and kept back for its first payee.
    SENT: the bank has it, or is being sent it.
    REVIEW: no proof can be had; two people find out what became of it.
    """

    WAITING = "waiting"
    HELD = "held"
    SENT = "sent"
    UNKNOWN = "unknown"
    REVIEW = "review"
    PAID = "paid"
    FAILED = "failed"
    NOT_SENT = "not_sent"


_PROGRESS: Final = {
    PayoutState.HELD: Progress.HELD,
    PayoutState.SENDING: Progress.SENT,
    PayoutState.ACCEPTED: Progress.SENT,
    PayoutState.UNKNOWN: Progress.UNKNOWN,
    PayoutState.PAID: Progress.PAID,
    PayoutState.NOT_SENT: Progress.NOT_SENT,
    PayoutState.REJECTED: Progress.FAILED,
    PayoutState.FAILED: Progress.FAILED,
}


def progress_of(row: RowState, payout: PayoutState | None, *, in_review: bool = False) -> Progress:
    """Return where a row stands, by its own state and that of its payout."""
    match row:
        case RowState.WAITING:
            return Progress.WAITING
        case RowState.REFUSED | RowState.CANCELLED:
            return Progress.NOT_SENT
        case RowState.ORDERING | RowState.ORDERED:
            if in_review:
                return Progress.REVIEW
            return Progress.SENT if payout is None else _PROGRESS[payout]


class Oddity(StrEnum):
    """
    What stands out in a row.

    KNOWN_REFERENCE: a payout of this reference and content exists: it is not paid again.
    NEW_PAYEE: the company has not paid there before.
    WILL_BE_HELD: it is kept back at first, as a payout to a first payee above the limit is.
    SAME_AMOUNT: the company paid the same amount there in the last 30 days.
    ABOVE_USUAL: more than twice as much as was ever paid there.
    TWICE_IN_FILE: another row pays the same amount there.
    """

    KNOWN_REFERENCE = "known_reference"
    NEW_PAYEE = "new_payee"
    WILL_BE_HELD = "will_be_held"
    SAME_AMOUNT = "same_amount"
    ABOVE_USUAL = "above_usual"
    TWICE_IN_FILE = "twice_in_file"


HISTORY: Final = frozenset(
    {Oddity.NEW_PAYEE, Oddity.WILL_BE_HELD, Oddity.SAME_AMOUNT, Oddity.ABOVE_USUAL}
)
"""
What tells of earlier payouts to a tax number: shown to people who may approve, but the uploader.

A file with each number that a hidden CPF may be would find it (ADR 0071), also by the eyes of
somebody who only reads.
"""

FileName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="Name of the file, for people.",
        examples=["salarios-2026-11.csv"],
        extra_json_schema={"pattern": schemas.NAME},
    ),
]
Payouts = Annotated[int, meaning("How many payouts.", 250)]
Row = Annotated[int, meaning("The row of the file; the header is row 1.", 2)]


class BatchFile(Struct, forbid_unknown_fields=True):
    """A file of payouts, as CSV in UTF-8 or Windows-1252."""

    name: FileName
    content: Annotated[
        str,
        Meta(
            min_length=4,
            max_length=352_000,
            description="The file's bytes in Base64.",
            examples=["cmVmZXJlbmNpYTt2YWxvcg=="],
            extra_json_schema={"pattern": "^[0-9A-Za-z+/]+={0,2}$"},
        ),
    ]


class BatchStopBody(Struct, forbid_unknown_fields=True):
    """Why the rest of a file is cancelled; it stays on record."""

    reason: Annotated[Why, meaning("Why; for people who read it later.", "wrong file")]


class FileProblem(Struct, frozen=True, kw_only=True):
    """What is wrong with a row of a file; the number is 0 where it is the file as a whole."""

    number: Annotated[int, meaning("The row, 0 for the whole file; the header is row 1.", 7)]
    field: Annotated[str, meaning("The field that is wrong; empty for none.", "value")]
    reason: Annotated[str, meaning("Why, as a word.", "amount_two_ways")]


class Batch(Struct, frozen=True, kw_only=True):
    """
    A file of payouts, as stored.

    Attributes:
        file_sha256: Of its bytes.
        payouts, centavos: Of all rows.
        made_by: The user id; ``maker`` is how the audit log names them.
        day: The date of its payouts; None before it is carried out.
        began_at: When it was let go, or let go on, last.
        held_for: The reason word for which it is held.
        resumed_by: The ids of the users who let it go on, each once.
    """

    id: str
    account_id: str
    company_id: str
    name: str
    file_sha256: bytes
    state: BatchState
    payouts: int
    centavos: int
    made_by: str
    maker: str
    made_at: datetime
    day: date | None = None
    began_at: datetime | None = None
    held_for: str = ""
    resumed_by: tuple[str, ...] = ()
    ended_at: datetime | None = None

    @property
    def value(self) -> Sum:
        """The sum of all rows."""
        return Sum(self.centavos)


class Ordered(NamedTuple):
    """Who ordered the payouts of a file, as ``Payers`` looks them up."""

    account_id: str
    client_id: str
    created_at: datetime

    @classmethod
    def of(cls, batch: Batch) -> Ordered:
        """Return the orderer of a file; a stop since its latest release covers its payouts."""
        since = batch.began_at or batch.made_at
        return cls(batch.account_id, client_of(batch.made_by), since)


class BatchRow(Struct, frozen=True, kw_only=True):
    """
    A row as stored.

    Attributes:
        sealed_order: The payout as JSON, encrypted with the file's id and the row's number.
        code: The public code with which it was refused, or was cancelled.
        tries: How often its payout was proven unsent.
        began_at: When a worker began with it last.
    """

    batch_id: str
    number: int
    account_id: str
    reference_sha256: bytes
    reference: str
    centavos: int
    sealed_order: bytes
    odd: tuple[Oddity, ...] = ()
    state: RowState = RowState.WAITING
    code: str = ""
    tries: int = 0
    began_at: datetime | None = None


def bound(batch_id: str, number: int) -> str:
    """Return the row to which the encryption of a payout is bound."""
    return f"batch:{batch_id}:{number}"


class BatchDocument(Struct, frozen=True, kw_only=True):
    """A file of payouts; ``status`` is ``waiting`` while another person has to approve it."""

    id: fields.Id
    account_id: fields.AccountId
    company_id: fields.CompanyId
    name: FileName
    status: Annotated[
        Literal["refused", "draft", "waiting", "running", "held", "ordered", "done", "cancelled"],
        meaning("The state that it is in.", "running"),
    ]
    payouts: Payouts
    value: Sum
    made_by: Annotated[str, meaning("Who uploaded it.", "user:ana@example.com")]
    made_at: Moment
    date: Annotated[
        str, meaning("The date of its payouts, a day in UTC; empty before.", "2026-11-20")
    ]
    approval_id: Annotated[
        str, meaning("The order that waits, or the last one; empty before it is ordered.", "")
    ]
    held_for: Annotated[str, meaning("Why the rest is held, as a word; else empty.", "")]
    ended_at: OptionalMoment


class BatchProgress(Struct, frozen=True, kw_only=True):
    """Payouts of a file in one state; what was paid is less what came back."""

    status: Annotated[Progress, meaning("Where they stand.", "paid")]
    payouts: Payouts
    value: Sum


class OddCount(Struct, frozen=True, kw_only=True):
    """Payouts of a file with one thing that stands out."""

    odd: Annotated[Oddity, meaning("What stands out.", "new_payee")]
    payouts: Payouts
    value: Sum


def counted(rows: Sequence[tuple[Sequence[Oddity], int]]) -> list[OddCount]:
    """Count rows and their centavos by what stands out in them."""
    numbers: Counter[Oddity] = Counter()
    centavos: Counter[Oddity] = Counter()
    for words, amount in rows:
        numbers.update(words)
        centavos.update(dict.fromkeys(words, amount))
    return [
        OddCount(odd=each, payouts=numbers[each], value=Sum(centavos[each]))
        for each in Oddity
        if numbers[each]
    ]


class BatchDetail(Struct, frozen=True, kw_only=True):
    """A file of payouts: how far it is, what stands out, what was wrong with it."""

    batch: BatchDocument
    progress: Annotated[list[BatchProgress], meaning("Its payouts by where they stand.")]
    odd: Annotated[
        list[OddCount],
        meaning(
            "What stands out; earlier payouts only to people who may approve, but its uploader."
        ),
    ]
    problems: Annotated[int, meaning("How many rows are wrong.", 0)]
    same_file: Annotated[
        str, meaning("An earlier upload of the same file to the account; empty for none.", "")
    ]


class BatchRowDocument(Struct, frozen=True, kw_only=True):
    """
    A row of a file, with its payout.

    A person's tax number and key are whole for users who may decide on the waiting order alone.
    """

    number: Row
    reference: fields.Reference
    value: Sum
    method: Annotated[
        Literal["pix", "bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]
    destination: Annotated[dict[str, str], meaning("Where the money goes.")]
    description: fields.Description
    odd: Annotated[list[Oddity], meaning("What stands out, in words.", ["new_payee"])]
    status: Annotated[Progress, meaning("Where its payout stands.", "paid")]
    has_payout: Annotated[bool, meaning("Whether its payout exists, under the reference.")]
    code: Annotated[
        str, meaning("Code with which its payout failed or was refused; else empty.", "")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSearch:
    """
    Which files.

    Attributes:
        text: A part of the file's name, or the whole reference of a row.
    """

    paging: Paging
    account_id: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSearch:
    """
    Which rows of a file.

    Attributes:
        is_odd: Only rows in which something stands out.
    """

    paging: Paging
    is_odd: bool = False
