"""
Paying, by the decision table of the partner guide.

One call of ``pay`` sends the same bytes until it knows what came of them. The gateway compares the
reference before it sends anything, so a repetition never pays again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from pixgate_client.documents import Unreadable, parse, read
from pixgate_client.errors import (
    NotFound,
    NotSent,
    PixgateError,
    Problem,
    RateLimited,
    Refused,
    Unavailable,
    Unknown,
    problem_of,
)
from pixgate_client.exchange import Answer, Flow, NoAnswer, Reply, Request
from pixgate_client.model import Payout
from pixgate_client.orders import Order, body_of, check_reference
from pixgate_client.reads import fetch, is_refusal
from pixgate_client.retries import Clock, Tries


class Proof(Enum):
    """What an answer that is no success proves of a payout."""

    NOT_SENT = "nothing was sent under this reference"
    UNKNOWN = "the gateway has the payout, and does not know its outcome"
    LATER = "this request did nothing; an earlier one may have; repeat it"
    STORED = "so too, and the stored payout says why"
    REFUSED = "so too, and no repetition helps"
    LOST = "the request may arrive yet, or has arrived"


TABLE: Final[Mapping[tuple[int, str], Proof]] = MappingProxyType(
    {
        (502, "SVC.ACC.005"): Proof.NOT_SENT,
        (502, "SVC.PIX.010"): Proof.UNKNOWN,
        (500, "SVC.SYS.001"): Proof.UNKNOWN,
        (400, "SVC.PIX.010"): Proof.STORED,
        (403, "SVC.PIX.010"): Proof.STORED,
    }
)
_LATER: Final = frozenset({408, 429, 503})


def proof_of(problem: Problem) -> Proof:
    """Look an answer up; one that is not the gateway's own proves nothing."""
    if not problem.code:
        return Proof.LOST
    listed = TABLE.get((problem.status, problem.code))
    if listed is not None:
        return listed
    if problem.status in _LATER:
        return Proof.LATER
    return Proof.REFUSED if is_refusal(problem.status) else Proof.UNKNOWN


@dataclass(slots=True)
class Evidence:
    """
    What the replies of one call prove so far.

    Attributes:
        unsent: Nothing was sent under the reference, by the caller's or the gateway's word.
        lost: A request was never answered. A copy of it may still arrive and pay, so no later
            word of the gateway proves that nothing is paid.
        asked: The gateway has the payout and does not know its outcome.
    """

    reference: str
    unsent: bool
    lost: bool = False
    asked: bool = False
    problem: Problem = field(default_factory=Problem)
    cause: Exception | None = None

    def take(self, reply: Reply, clock: Clock) -> Proof:
        """Add a reply that is no success."""
        if isinstance(reply, NoAnswer):
            self.problem, self.cause = Problem(), reply.cause
            proof = Proof.LOST if reply.may_have_left else Proof.LATER
        else:
            self.problem, self.cause = problem_of(reply, clock.now()), None
            proof = proof_of(self.problem)
        self.lost = self.lost or proof is Proof.LOST
        if proof in {Proof.NOT_SENT, Proof.UNKNOWN}:
            self.unsent, self.asked = proof is Proof.NOT_SENT, proof is Proof.UNKNOWN
        return proof

    def refusal(self) -> PixgateError:
        """Return the error for an answer that no repetition changes."""
        if self.lost or self.asked:
            return self.error(Unknown, "refused, but an earlier request may have paid")
        return self.error(Refused, "refused")

    def surrender(self) -> PixgateError:
        """Return the error for a deadline that has passed."""
        if self.lost or self.asked:
            return self.error(Unknown, "the outcome is not known yet")
        if self.problem.status == HTTPStatus.TOO_MANY_REQUESTS:
            return self.error(RateLimited, "too many calls; this one sent nothing")
        if self.unsent:
            return self.error(NotSent, "certainly not sent")
        return self.error(Unknown, "this call sent nothing; an earlier one may have")

    def error(self, kind: type[PixgateError], text: str) -> PixgateError:
        """Make an error about the last reply."""
        error = kind(text, reference=self.reference, problem=self.problem)
        error.__cause__ = self.cause
        return error


def pay(path: str, order: Order, tries: Tries, *, first: bool, lost: set[str]) -> Flow[Payout]:
    """
    Send an order until its outcome or the deadline.

    ``lost`` keeps the references of requests that were never answered, for later calls.

    Returns:
        The payout as the gateway took it, or as it failed.

    Raises:
        NotSent, Unknown, Refused, RateLimited: as ``Client.pay`` says.
    """
    request = Request("POST", path, body_of(order, tries.clock.now().date()))
    evidence = Evidence(order.reference, unsent=first, lost=order.reference in lost)
    while True:
        lost.add(order.reference)  # a call that is broken off was not answered either
        reply = yield request
        accepted = _accepted(reply, order.reference)
        if accepted is not None:
            lost.discard(order.reference)
            return accepted
        proof = evidence.take(reply, tries.clock)
        if not evidence.lost:
            lost.discard(order.reference)
        if proof is Proof.STORED:
            return (yield from _stored(path, evidence, tries))
        if proof is Proof.REFUSED:
            raise evidence.refusal()
        pause_s = tries.pause_s(evidence.problem.retry_after_s)
        if pause_s is None:
            raise evidence.surrender()
        request = replace(request, delay_s=pause_s)


def look_up(path: str, reference: str, tries: Tries, delay_s: float = 0.0) -> Flow[Payout]:
    """Read a payout by its reference."""
    check_reference(reference)
    request = Request("GET", f"{path}/{quote(reference, safe='')}", delay_s=delay_s)
    return fetch(request, Payout, tries, reference=reference)


def settle(path: str, reference: str, tries: Tries) -> Flow[Payout]:
    """
    Read a payout until it is final.

    Raises:
        Unknown: the deadline came first.
        Refused: the payout cannot be read.
    """
    pause_s: float | None = 0.0
    cause: PixgateError | None = None
    while pause_s is not None:
        try:
            payout = yield from look_up(path, reference, tries, pause_s)
        except Unavailable as problem:
            cause = problem
            break
        if payout.is_final:
            return payout
        pause_s = tries.pause_s()
    text = "the outcome is not known yet"
    raise Unknown(text, reference=reference) from cause


def _accepted(reply: Reply, reference: str) -> Payout | None:
    """Return the payout that an answer shows, if it is the gateway's and of this reference."""
    if not isinstance(reply, Answer) or reply.status != HTTPStatus.OK:
        return None
    try:
        payout = read(Payout, parse(reply.body))
    except Unreadable:
        return None
    return payout if payout.reference == reference else None


def _stored(path: str, evidence: Evidence, tries: Tries) -> Flow[Payout]:
    """Read what is stored under a refused reference; only a failed payout is an outcome."""
    found: Payout | None = None
    try:
        found = yield from look_up(path, evidence.reference, tries)
    except NotFound:
        pass
    except PixgateError as problem:
        text = "refused, and what is stored under the reference cannot be read"
        raise evidence.error(Unknown, text) from problem
    if found is not None and found.status == "failed":
        return found
    if found is not None and evidence.problem.status == HTTPStatus.BAD_REQUEST:
        # An order of this content would have been answered as a repetition: none was ever taken.
        raise evidence.error(Refused, "the reference is another payout's")
    raise evidence.refusal()
