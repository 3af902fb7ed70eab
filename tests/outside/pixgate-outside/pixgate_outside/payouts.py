"""
The bank's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client makes Unknown of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import (
    Accepted,
    Outcome,
    PixReturn,
    Reason,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from provider_adapters.kit.answers import ProviderAnswer, is_e2e_id, provider_id, read_document
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import refused_before

from pixgate_outside import amounts, documents, mapping
from pixgate_outside.requests import destination

_OK = 200
_PLACE = ("key", "bank", "branch", "account", "tax_number")
"""What of a destination is compared; names are written in many ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """
    What an answer must agree with; a look-up knows neither amount nor destination.

    Attributes:
        must_show: An answer that does not show the destination agrees with nothing.
    """

    provider_key: str
    value: Money | None = None
    destination: Mapping[str, str] | None = None
    must_show: bool = False


def expected_of(order: PayoutOrder, *, must_show: bool = False) -> Expected:
    """Expect what was ordered."""
    return Expected(
        provider_key=order.provider_key,
        value=order.value,
        destination=destination(order),
        must_show=must_show,
    )


def created(answer: ProviderAnswer, expected: Expected, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to an order; a known key is still to be read back.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    code = mapping.error_code(answer)
    if (answer.status, code) in mapping.REJECTIONS:
        return Rejected(
            evidence=answer.evidence(Reason.REFUSED, code),
            failure=mapping.FAILURES.get(code, FailureCode.OTHER),
            forbidden=code in mapping.FORBIDDEN,
        )
    if (answer.status, code) in mapping.DUPLICATES:
        return Accepted(evidence=answer.evidence(Reason.DUPLICATE, code))
    refused = refused_before(answer, code, mapping.REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(payout: documents.Payout) -> Outcome:
        known = _outcome(answer, payout, expected)
        if known is not None:
            return known
        unknown()  # ordered, in a state that we do not know: it is followed up
        return _accepted(answer, payout, Reason.UNKNOWN_STATUS)

    return read_document(answer, documents.PAYOUT, shape, {_OK, 201})


def found(answer: ProviderAnswer, expected: Expected, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to a look-up; an unknown state is Unknown.

    Raises:
        ProviderError: NotFound only for the bank's own word for it.
    """
    if answer.status != _OK:
        raise mapping.failure(answer)

    def shape(payout: documents.Payout) -> Outcome:
        known = _outcome(answer, payout, expected)
        if known is not None:
            return known
        unknown()
        return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))

    return read_document(answer, documents.PAYOUT, shape)


def _outcome(
    answer: ProviderAnswer, payout: documents.Payout, expected: Expected
) -> Outcome | None:
    """Read a payout's state: None for an unknown one, Unknown for a payout that is not ours."""
    problem = _contradiction(payout, expected)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    match payout.status:
        case "processing":
            return _accepted(answer, payout)
        case "held":
            until = mapping.utc(payout.held_until)
            return replace(_accepted(answer, payout), held_until=until)
        case "settled":
            return _settled(answer, payout)
        case "failed":
            code = "" if payout.failure is None else payout.failure.code
            return Rejected(
                evidence=answer.evidence(Reason.REFUSED, code),
                failure=mapping.FAILURES.get(code, FailureCode.OTHER),
                provider_key=payout.external_id,
            )
    return None


def _contradiction(payout: documents.Payout, expected: Expected) -> Reason | None:
    """Return in what a payout differs from the one expected, if in anything."""
    if payout.external_id != expected.provider_key:
        return Reason.KEY_MISMATCH
    if expected.value is not None and amounts.read(payout.amount) != expected.value:
        return Reason.AMOUNT_MISMATCH
    if not _goes_there(payout.destination, expected):
        return Reason.DESTINATION_MISMATCH
    if payout.end_to_end_id and not is_e2e_id(payout.end_to_end_id):
        return Reason.E2E_ID_MALFORMED
    return None


def _goes_there(shown: Mapping[str, str] | None, expected: Expected) -> bool:
    """Say whether a payout goes where it was ordered to."""
    ordered = expected.destination
    if ordered is None or shown is None:
        return not expected.must_show
    return all(shown.get(name) == ordered.get(name) for name in _PLACE)


def _accepted(
    answer: ProviderAnswer, payout: documents.Payout, reason: Reason = Reason.ANSWERED
) -> Accepted:
    return Accepted(
        evidence=answer.evidence(reason),
        provider_id=provider_id(payout.id),
        e2e_id=payout.end_to_end_id or "",
        provider_key=payout.external_id,
        value=mapping.above_zero(payout.amount),
    )


def _settled(answer: ProviderAnswer, payout: documents.Payout) -> Settled:
    return Settled(
        evidence=answer.evidence(Reason.ANSWERED),
        value=mapping.above_zero(payout.amount),
        provider_id=provider_id(payout.id),
        e2e_id=payout.end_to_end_id or "",
        provider_key=payout.external_id,
        settled_at=mapping.utc(payout.settled_at),
        returns=tuple(map(_return, payout.returns)),
    )


def _return(came: documents.Return) -> PixReturn:
    value = mapping.above_zero(came.amount)
    return PixReturn(id=came.id, value=value, at=came.at.astimezone(UTC))
