"""
Woovi's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from gateway.domain.bank.payout_orders import FailureCode, PayoutOrder
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    Evidence,
    Outcome,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.kernel.money import Money
from provider_adapters.kit.answers import ProviderAnswer, is_e2e_id, read_document
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import refused_before
from provider_adapters.woovi import documents, translate, words
from provider_adapters.woovi.requests import destination

_REASON_ENDS: Final = " - "


@dataclass(frozen=True, slots=True)
class ExpectedPayout:
    """
    What an answer must agree with; a lookup knows neither amount nor destination.

    Attributes:
        place: Where it goes, as ``shown_place`` writes it.
        must_show: An answer that does not show the destination agrees with nothing.
    """

    provider_key: str
    value: Money | None = None
    place: Mapping[str, str] | None = None
    must_show: bool = False

    @classmethod
    def of(cls, order: PayoutOrder, *, must_show: bool = False) -> Self:
        """Expect what was ordered."""
        return cls(order.provider_key, order.value, _ordered_place(order), must_show)


def created(answer: ProviderAnswer, expected: ExpectedPayout, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to an order; a known key is still to be read back.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    code = translate.error_code(answer)
    said = (answer.status, code)
    if said in words.REJECTIONS:
        evidence = answer.evidence(Reason.REFUSED, code)
        return Rejected(evidence=evidence, failure=words.REJECTIONS[said])
    if said in words.DUPLICATES:
        return Accepted(evidence=answer.evidence(Reason.DUPLICATE, code))
    refused = refused_before(answer, code, words.REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(document: documents.PaymentAnswer) -> Outcome:
        outcome = _outcome(answer, document, expected)
        if outcome is None:
            unknown()
            return _accepted(document, answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return read_document(answer, documents.PAYMENT, shape, translate.CREATED)


def found(answer: ProviderAnswer, expected: ExpectedPayout, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to a lookup; an unknown state is Unknown.

    Raises:
        ProviderError: NotFound only for the bank's own sentence for it.
    """

    def shape(document: documents.PaymentAnswer) -> Outcome:
        outcome = _outcome(answer, document, expected)
        if outcome is None:
            unknown()
            return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return translate.read(answer, documents.PAYMENT, shape)


def _outcome(
    answer: ProviderAnswer, document: documents.PaymentAnswer, expected: ExpectedPayout
) -> Outcome | None:
    """Read a payout's state: None for an unknown one, Unknown for a payout that is not ours."""
    problem = _contradiction(document, expected)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    status = document.payment.status
    evidence = answer.evidence(Reason.ANSWERED)
    if status in words.PROCESSING:
        return _accepted(document, evidence)
    if status in words.SETTLED:
        return _settled(document, evidence)
    if status in words.FAILED:
        code = _failure_code(document)
        return Rejected(
            evidence=answer.evidence(Reason.REFUSED, code),
            failure=words.FAILURES.get(code, FailureCode.OTHER),
            provider_key=expected.provider_key,
        )
    return None


def _contradiction(document: documents.PaymentAnswer, expected: ExpectedPayout) -> Reason | None:
    """Return in what a payout differs from the one expected, if in anything."""
    payment = document.payment
    if payment.correlation_id != expected.provider_key:
        return Reason.KEY_MISMATCH
    if expected.value is not None and payment.value != expected.value.centavos:
        return Reason.AMOUNT_MISMATCH
    if not _goes_there(payment, expected):
        return Reason.DESTINATION_MISMATCH
    e2e_id = _e2e_id(document)
    return None if not e2e_id or is_e2e_id(e2e_id) else Reason.E2E_ID_MALFORMED


def _goes_there(payment: documents.Payment, expected: ExpectedPayout) -> bool:
    """Say whether a payout goes where it was ordered to; names are not compared."""
    shown = _shown_place(payment)
    if expected.place is None or not shown:
        return not expected.must_show
    return shown == expected.place


def _shown_place(payment: documents.Payment) -> Mapping[str, str]:
    """Write where a payment goes: its key, or bank, branch and account; empty if not shown."""
    if payment.pix_key:
        return {"key": payment.pix_key}
    place, psp = payment.account, payment.psp
    bank = psp.id if isinstance(psp, documents.Psp) else psp
    if place is None or not (bank and place.branch and place.account):
        return {}
    return {"psp": bank, "branch": place.branch, "account": place.account}


def _ordered_place(order: PayoutOrder) -> Mapping[str, str]:
    """Write where an order goes, as ``_shown_place`` does."""
    written = destination(order)
    if "destinationAlias" in written:
        return {"key": str(written["destinationAlias"])}
    account = written["account"]
    held = account if isinstance(account, dict) else {}
    return {"psp": str(written["psp"]), "branch": held["branch"], "account": held["account"]}


def _settled(document: documents.PaymentAnswer, evidence: Evidence) -> Settled:
    """Read what arrived; what the transaction says was paid comes before what was asked for."""
    paid = document.transaction
    value = None if paid is None else paid.value
    return Settled(
        evidence=evidence,
        value=translate.above_zero(document.payment.value if value is None else value),
        e2e_id=_e2e_id(document),
        provider_key=document.payment.correlation_id,
        settled_at=None if paid is None else translate.utc(paid.time),
    )


def _accepted(document: documents.PaymentAnswer, evidence: Evidence) -> Accepted:
    return Accepted(
        evidence=evidence,
        e2e_id=_e2e_id(document),
        provider_key=document.payment.correlation_id,
        value=translate.above_zero(document.payment.value),
    )


def _e2e_id(document: documents.PaymentAnswer) -> str:
    return "" if document.transaction is None else document.transaction.e2e_id or ""


def _failure_code(document: documents.PaymentAnswer) -> str:
    """Return the code of a failure: ``AC03`` of ``AC03 - Conta inválida``; empty if not told."""
    paid = document.transaction
    reason = "" if paid is None else paid.reason or ""
    return reason.partition(_REASON_ENDS)[0]
