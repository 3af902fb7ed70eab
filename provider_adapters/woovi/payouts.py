"""
Woovi's answers about payouts, as outcomes.

Only listed answers are returned. All others are raised, and the client turns them into Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import Outcome
from gateway.core.money import Money
from provider_adapters.kit.answers import ProviderAnswer, read_document
from provider_adapters.kit.outcomes import Expected, Shown, listed_refusal, outcome_of
from provider_adapters.kit.times import utc
from provider_adapters.woovi import documents, mapping
from provider_adapters.woovi.requests import destination

_REASON_ENDS: Final = " - "
_NOT_YET: Final = documents.Settlement()


def expected(order: PayoutOrder, *, must_show: bool = False) -> Expected:
    """Expect the order; names are not compared."""
    return Expected(order.provider_key, order.value, _ordered_place(order), must_show)


def created(answer: ProviderAnswer, ordered: Expected) -> Outcome:
    """
    Read the answer to an order; a known key is still to be read back.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    refused = listed_refusal(
        answer,
        mapping.error_code(answer),
        mapping.REJECTIONS,
        mapping.REFUSED_BEFORE,
        duplicates=mapping.DUPLICATES,
    )
    if refused is not None:
        return refused

    def shape(document: documents.PaymentAnswer) -> Outcome:
        return outcome_of(answer, _shown(document, ordered), ordered, ordered=True)

    return read_document(answer, documents.PAYMENT, shape, mapping.CREATED)


def found(answer: ProviderAnswer, wanted: Expected) -> Outcome:
    """
    Read the answer to a lookup.

    Raises:
        ProviderError: NotFound only for the bank's own sentence for it.
    """

    def shape(document: documents.PaymentAnswer) -> Outcome:
        return outcome_of(answer, _shown(document, wanted), wanted, ordered=False)

    return mapping.read(answer, documents.PAYMENT, shape)


def _shown(document: documents.PaymentAnswer, wanted: Expected) -> Shown:
    """Read a payout; the transaction's amount takes precedence over the order's."""
    payment, paid = document.payment, document.transaction or _NOT_YET
    code = (paid.reason or "").partition(_REASON_ENDS)[0]  # ``AC03`` of ``AC03 - Conta inválida``
    return Shown(
        state=mapping.STATES.get(payment.status),
        provider_key=payment.correlation_id,
        value=Money(payment.value),
        paid=None if paid.value is None else Money(paid.value),
        e2e_id=paid.e2e_id or None,
        problem=wanted.misled(_shown_place(payment)),
        settled_at=utc(paid.time),
        failure=mapping.FAILURES.get(code, FailureCode.OTHER),
        code=code,
    )


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
