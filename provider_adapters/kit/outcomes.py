"""
Outcomes of a call that moves money, for adapters to return.

Each says one thing for certain; whatever none of them fits is ``Unknown``, which the client
returns by itself. See docs/providers/outcomes.md for an example of each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    Evidence,
    NotSent,
    Outcome,
    Phase,
    ProviderError,
    Refused,
    Rejected,
    Unknown,
)
from gateway.net.client.messages import ProviderAnswer
from provider_adapters._road.faults import retry_after

RefusedBefore = Mapping[tuple[int, str], Reason]
"""
What a bank answers when it refuses a call before it executes anything, by status and code.

``Reason.CREDENTIALS_REFUSED`` or ``Reason.RATE_LIMITED``. List a pair only with its source: the
bank must say that nothing was done. A bare status is none, for a proxy says it too.
"""


class NeverSendable(Refused):
    """
    This bank can never take the order: a key type, a bank number or a text it does not know.

    Raised before the bank is asked; the caller must correct the order, and need not repeat it.
    """

    def __init__(self, failure: FailureCode = FailureCode.OTHER) -> None:
        """Say why, in the words of a payout that failed."""
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


def is_known(outcome: Outcome) -> bool:
    """Say whether the bank answered only that it knows our key: ours, but is it this order?"""
    return isinstance(outcome, Accepted) and outcome.evidence.reason == Reason.DUPLICATE


async def read_back(outcome: Outcome, look: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """
    Return an outcome, after a second look if the bank only knows our key.

    ``look`` reads the payout by our key, in the same call, and compares amount and destination
    with the order. What it cannot read is Unknown.
    """
    if not is_known(outcome):
        return outcome
    try:
        return await look()
    except ProviderError:
        return Unknown(outcome.evidence)
