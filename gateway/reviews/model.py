"""Documents of reviews: payouts with an unproven outcome, and opinions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.schemas import OptionalMoment, Why
from gateway.core.structs import struct_of
from gateway.payouts.documents import AttemptDocument, OpinionDocument
from gateway.payouts.model import (
    Attempt,
    Certainty,
    Opinion,
    Payout,
    PayoutState,
    Verdict,
    certainty_of,
)


class WithdrawalBody(Struct):
    """The payout on which you withdraw your opinion."""

    account_id: Annotated[
        str,
        meaning(
            "The account, a UUID; empty where there is none.",
            fields.ID,
            min_length=1,
            max_length=64,
        ),
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


class JudgementBody(WithdrawalBody):
    """
    A payout's end, and the user's evidence.

    ``value`` is the amount that the bank moved, where it paid: absent for the amount ordered, and
    needed where the bank shows another one.
    """

    verdict: Verdict
    reason: Annotated[Why, meaning("Why; for people who read it later.", "asked for by telephone")]
    value: Annotated[Money | None, meaning("Amount in reais.")] = None


class Progress(StrEnum):
    """
    State of a review.

    WAITING: an equal opinion of another person is missing.
    DISAGREED: two opinions differ: a third person decides, or one of the two withdraws theirs.
    """

    WAITING = "waiting"
    DISAGREED = "disagreed"
    DECIDED = "decided"


class ReviewDocument(Struct, frozen=True, kw_only=True):
    """A payout that waits for users."""

    account_id: fields.AccountId
    reference: fields.Reference
    state: fields.State
    value: Sum
    provider: fields.Provider
    provider_key: fields.ProviderKey
    created_at: OptionalMoment


Opinions = Annotated[
    list[OpinionDocument],
    meaning("What people found at the bank; of others only when it is decided."),
]
ShownCertainty = Annotated[Certainty, Meta(extra_json_schema={"example": "settled"})]


class ResolutionDocument(Struct, frozen=True, kw_only=True):
    """
    The state of a review after your opinion.

    ``disagreed``: a third user decides, or one of the two withdraws their opinion. ``opinions`` has
    yours alone until it is ``decided``; ``opinions_given`` counts all.
    """

    progress: Annotated[
        Literal["waiting", "disagreed", "decided"], meaning("Where the review stands.")
    ]
    payout: ReviewDocument
    opinions_given: Annotated[int, meaning("How many people have said what they found.")]
    opinions: Opinions


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewState:
    """
    A payout, and its review as one user sees it.

    Attributes:
        given: Number of opinions that count.
        opinions: Those that this person reads: until it is decided, only their own.
    """

    progress: Progress
    payout: Payout
    given: int
    opinions: Sequence[Opinion]

    def to_document(self, _reader: object) -> ResolutionDocument:
        """Show the review in its current state."""
        return ResolutionDocument(
            progress=self.progress.value,
            payout=struct_of(ReviewDocument, self.payout),
            opinions_given=self.given,
            opinions=[OpinionDocument.of(each) for each in self.opinions],
        )


class UnresolvedDocument(ReviewDocument, frozen=True, kw_only=True):
    """
    A payout whose outcome is not proven, and its tries, oldest first.

    From ``absent_at`` on "not found" proves that the latest try moved nothing; empty for never.
    ``progress`` is empty where no users are asked, else ``waiting`` or ``disagreed``: then a third
    user decides, or one of the two withdraws their opinion. ``opinions_given`` counts opinions;
    ``opinions`` has yours alone, since users find out independently.
    """

    account_name: Annotated[str, Meta(description="The name of the account.", examples=["Matriz"])]
    payee_name: Annotated[str, Meta(description="The recipient's name.", examples=["Maria Silva"])]
    payee_tax_number: Annotated[
        str,
        Meta(
            description="The recipient's CPF or CNPJ, a CPF in part.", examples=["***.982.247-**"]
        ),
    ]
    client_id: fields.ClientId
    absent_at: OptionalMoment
    certainty: ShownCertainty
    review: fields.NeedsReview
    attempts: Annotated[list[AttemptDocument], meaning("How often it was sent, or tried to be.")]
    progress: Annotated[str, Meta(description="Where the review stands.", examples=["waiting"])]
    opinions_given: Annotated[int, meaning("How many people have said what they found.")]
    opinions: Opinions


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedPayout:
    """
    A payout whose outcome is not proven.

    Attributes:
        attempts: Oldest first.
        opinions: Oldest first; only opinions on the review as it is now.
    """

    payout: Payout
    account_name: str
    attempts: Sequence[Attempt]
    opinions: Sequence[Opinion]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """
    A payout with an unproven outcome, as one user sees it.

    Attributes:
        absent_at: From when "not found" is a proof; None for never.
    """

    found: UnresolvedPayout
    review: ReviewState
    absent_at: datetime | None

    def to_document(self, _reader: object) -> UnresolvedDocument:
        """Return the document, without the opinions of others."""
        payout, (name, tax_number) = self.found.payout, self.found.payout.payee
        return struct_of(
            UnresolvedDocument,
            payout,
            account_name=self.found.account_name,
            payee_name=name,
            payee_tax_number=tax_number,
            absent_at=self.absent_at,
            certainty=certainty_of(payout),
            attempts=[AttemptDocument.of(each, payout) for each in self.found.attempts],
            progress=self.review.progress if payout.review else "",
            opinions_given=self.review.given,
            opinions=[OpinionDocument.of(each) for each in self.review.opinions],
        )


class ProbeResult(StrEnum):
    """
    Result of probing one payout.

    ASKED: its bank was queried; the answer is stored.
    JUST_ASKED: another query runs now, or ran in the last five seconds.
    ENDED: it had an outcome by the time it was its turn.
    NO_TIME: it was not its turn before the time was over.
    """

    ASKED = "asked"
    JUST_ASKED = "just_asked"
    ENDED = "ended"
    NO_TIME = "no_time"


class ProbedPayout(Struct, frozen=True, kw_only=True):
    """A payout's present state, and the result of the query."""

    account_id: fields.AccountId
    reference: fields.Reference
    result: ProbeResult
    state: Annotated[PayoutState, Meta(extra_json_schema={"example": "paid"})]
    certainty: ShownCertainty

    @classmethod
    def of(cls, payout: Payout, result: ProbeResult) -> ProbedPayout:
        """Return the result of probing a payout."""
        return struct_of(cls, payout, result=result, certainty=certainty_of(payout))


class ProbedAll(Struct, frozen=True, kw_only=True):
    """
    How many were ``asked`` about, of how many that were not proven, and why others were not.

    ``proven`` counts payouts ended by the bank's answer. ``just_asked``: another query runs, or ran
    in the last five seconds. ``ended``: it had an outcome before its turn. ``no_time``: its turn
    did not come; ask again, and it comes first.
    """

    total: Annotated[int, meaning("How many payouts are unresolved.")]
    asked: Annotated[int, meaning("Payouts about which the bank was asked.")]
    proven: Annotated[int, meaning("Payouts about which there is proof now.")]
    just_asked: Annotated[
        int, meaning("Payouts not asked about, because the bank was asked a moment ago.")
    ]
    ended: Annotated[int, meaning("Payouts that are now paid or failed.")]
    no_time: Annotated[int, meaning("Payouts not asked about, because the time was over.")]
    data: Annotated[list[ProbedPayout], meaning("The rows of this page.")]
