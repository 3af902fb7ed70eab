"""
Outcomes of a call that moves money, for adapters to return.

Each is one certain result; any other answer is ``Unknown``, which the client
returns by itself. See docs/providers/outcomes.md for an example of each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    Evidence,
    NotSent,
    Outcome,
    Phase,
    PixReturn,
    ProviderError,
    Reason,
    Refused,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import Refund, RefundStatus
from gateway.core.money import Money
from provider_adapters.kit.answers import is_e2e_id, provider_id
from provider_adapters.kit.faults import retry_after
from provider_adapters.kit.money import above_zero

RefusedBefore = Mapping[tuple[int, str], Reason]
"""
What a bank answers when it refuses a call before it executes anything, by status and code.

``Reason.CREDENTIALS_REFUSED`` or ``Reason.RATE_LIMITED``. List a pair only with its source: the
bank must say that nothing was done. A bare status is none, for a proxy says it too.
"""


class NeverSendable(Refused):
    """
    This bank can never take the order: a key type, bank number or text that it does not support.

    Raised before the bank is called; the caller must correct the order, and need not repeat it.
    """

    def __init__(self, failure: FailureCode = FailureCode.OTHER) -> None:
        super().__init__(Reason.UNSENDABLE)
        self.failure = failure


def unsent(failure: ProviderError) -> NotSent | Rejected:
    """
    Return the outcome of an order that failed before its money call.

    Building the request and calls that move no money, such as a look-up of the key, come before.
    """
    reason = str(failure.reason)
    here = Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason=reason)
    if isinstance(failure, NeverSendable):
        return Rejected(evidence=here, failure=failure.failure)
    return NotSent(here, retry_after=failure.retry_after)


def refused_before(answer: ProviderAnswer, code: str, listed: RefusedBefore) -> NotSent | None:
    """Return that the bank executed nothing, if the answer is one of those listed."""
    reason = listed.get((answer.status, code))
    if reason is None:
        return None
    return NotSent(answer.evidence(reason, code), retry_after=retry_after(answer))


def listed_refusal(  # noqa: PLR0913 - each list by its name
    answer: ProviderAnswer,
    code: str,
    rejections: Mapping[tuple[int, str], FailureCode],
    before: RefusedBefore,
    *,
    duplicates: Collection[tuple[int, str]] = (),
    forbidden: Collection[str] = (),
) -> Outcome | None:
    """
    Return the outcome of a listed refusal of an order; None for an unlisted answer.

    Args:
        answer: The bank's.
        code: Its word for the refusal.
        rejections: Refusals that prove that nothing moved and nothing will.
        before: Refusals before the bank looked at the order.
        duplicates: Codes for a duplicate of our key: the payout is to be read back.
        forbidden: Codes of rejections that are about the account, and not about the order.
    """
    said = (answer.status, code)
    if said in rejections:
        return Rejected(
            evidence=answer.evidence(Reason.REFUSED, code),
            failure=rejections[said],
            forbidden=code in forbidden,
        )
    if said in duplicates:
        return Accepted(evidence=answer.evidence(Reason.DUPLICATE, code))
    return refused_before(answer, code, before)


State = type[Accepted] | type[Settled] | type[Rejected]
"""Where an order stands, as the bank's word for it is listed."""

STATES_OF_REFUNDS: Final[Mapping[RefundStatus, State]] = {
    RefundStatus.PROCESSING: Accepted,
    RefundStatus.PAID: Settled,
    RefundStatus.FAILED: Rejected,
}


@dataclass(frozen=True, slots=True)
class Expected:
    """
    The values that an answer must repeat; a lookup has neither amount nor destination.

    Attributes:
        place: Where the money goes, in the bank's words; no more than it names is compared.
        must_show: An answer that does not show the destination agrees with nothing.
    """

    provider_key: str
    value: Money | None = None
    place: Mapping[str, str | None] | None = None
    must_show: bool = False

    def misled(self, shown: Mapping[str, str | None] | None) -> Reason | None:
        """Return ``DESTINATION_MISMATCH`` if the answer shows another destination."""
        if self.place is None or not shown:
            agrees = not self.must_show
        else:
            agrees = all(shown.get(name) == text for name, text in self.place.items())
        return None if agrees else Reason.DESTINATION_MISMATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """
    An order of money as a bank's answer shows it.

    Attributes:
        state: None where the bank's word is not listed.
        provider_key: Ours; None at a bank whose answer has no place for it.
        e2e_id: None where none is shown yet.
        paid: The paid amount, where the bank reports it beside the ordered one.
        problem: Another difference from the expected values.
        failure, code: Why it failed: ours, and the bank's word.
    """

    state: State | None
    provider_key: str | None
    value: Money
    paid: Money | None = None
    provider_id: str = ""
    e2e_id: str | None = None
    problem: Reason | None = None
    settled_at: datetime | None = None
    held_until: datetime | None = None
    returns: tuple[PixReturn, ...] = ()
    failure: FailureCode = FailureCode.OTHER
    code: str = ""


def refund_shown(refund: Refund, problem: Reason | None = None) -> Shown:
    """Return a refund that was read, for comparison with its order."""
    return Shown(
        state=STATES_OF_REFUNDS[refund.status],
        provider_key=refund.provider_key,
        value=refund.value,
        provider_id=refund.provider_id,
        e2e_id=refund.return_id or None,
        problem=problem,
        settled_at=refund.settled_at,
        failure=refund.failure or FailureCode.OTHER,
    )


def outcome_of(
    answer: ProviderAnswer, shown: Shown, expected: Expected, *, ordered: bool
) -> Outcome:
    """
    Return the outcome in an answer; Unknown for an answer that does not match the order.

    An unlisted state is counted. Of an order that the bank has just taken (``ordered``) it
    leaves the payout under way; of one that was looked up it proves nothing.

    Raises:
        ValueError: The amount is not above zero, or the bank's id cannot be kept.
    """
    problem = _contradiction(shown, expected)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    key = shown.provider_key or ""
    if shown.state is Rejected:
        evidence = answer.evidence(Reason.REFUSED, shown.code)
        return Rejected(evidence=evidence, failure=shown.failure, provider_key=key)
    reason = Reason.ANSWERED
    if shown.state is None:
        answer.unknown_word()
        reason = Reason.UNKNOWN_STATUS
        if not ordered:
            return Unknown(answer.evidence(reason))
    known = provider_id(shown.provider_id)
    if shown.state is Settled:
        return Settled(
            evidence=answer.evidence(reason),
            value=above_zero(shown.value if shown.paid is None else shown.paid),
            provider_id=known,
            e2e_id=shown.e2e_id or "",
            provider_key=key,
            settled_at=shown.settled_at,
            returns=shown.returns,
        )
    return Accepted(
        evidence=answer.evidence(reason),
        provider_id=known,
        e2e_id=shown.e2e_id or "",
        provider_key=key,
        value=above_zero(shown.value),
        held_until=shown.held_until,
    )


def _contradiction(shown: Shown, expected: Expected) -> Reason | None:
    """Return the difference of an order from the expected one, if any."""
    if shown.provider_key is not None and shown.provider_key != expected.provider_key:
        return Reason.KEY_MISMATCH
    if expected.value is not None and shown.value != expected.value:
        return Reason.AMOUNT_MISMATCH
    if shown.problem is not None:
        return shown.problem
    is_right = shown.e2e_id is None or is_e2e_id(shown.e2e_id)
    return None if is_right else Reason.E2E_ID_MALFORMED


def is_known(outcome: Outcome) -> bool:
    """Return whether the bank only reported a duplicate of our key, not yet compared."""
    return isinstance(outcome, Accepted) and outcome.evidence.reason == Reason.DUPLICATE


async def read_back(outcome: Outcome, look: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """
    Return an outcome; a duplicate of our key is read back from the bank first.

    ``look`` reads the payout by our key, in the same call, and compares amount and destination
    with the order. An unreadable answer is Unknown.
    """
    if not is_known(outcome):
        return outcome
    try:
        return await look()
    except ProviderError:
        return Unknown(outcome.evidence)
