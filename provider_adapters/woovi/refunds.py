"""
Woovi's answers about refunds, as outcomes and as values.

Only listed answers to an order are returned. All others are raised, and the client turns them
into Unknown. No refusal of a refund is written down in the bank's documents, so none is final.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Accepted, Outcome, Page, Rejected, Settled, Unknown
from gateway.domain.bank.refunds import Refund, RefundOrder, RefundStatus
from gateway.domain.kernel.strict import cleaned_text
from gateway.domain.kernel.windows import Window
from provider_adapters.kit import paging
from provider_adapters.kit.answers import (
    ProviderAnswer,
    is_e2e_id,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import refused_before
from provider_adapters.woovi import documents, translate, words
from provider_adapters.woovi.requests import comment_of

# A comment of ours ends in the payment that is given back (``requests.comment_of``).
_OURS: Final = re.compile(r"(?:(.*) )?(E[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11})", re.ASCII | re.DOTALL)
# An end-to-end id names its minute, in UTC: D, eight of the bank's, then this.
_MINUTE: Final = slice(9, 21)


def created(answer: ProviderAnswer, order: RefundOrder, unknown: UnknownWord) -> Outcome:
    """
    Read the answer to an order.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    code = translate.error_code(answer)
    refused = refused_before(answer, code, words.REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(document: documents.RefundOrdered) -> Outcome:
        return _outcome(answer, document.refund, order, unknown)

    return read_document(answer, documents.REFUND_ORDERED, shape, translate.CREATED)


def found(answer: ProviderAnswer, provider_key: str, unknown: UnknownWord) -> Refund:
    """
    Read the answer to a lookup.

    Raises:
        ProviderError: NotFound only for the bank's own sentence for it; BadReply for a refund
            of another key.
    """

    def shape(document: documents.RefundAnswer) -> Refund:
        refund = _refund(document.refund, unknown)
        if refund.provider_key != provider_key:
            raise ValueError(Reason.KEY_MISMATCH)
        return refund

    return translate.read(answer, documents.REFUND, shape)


def page(
    answer: ProviderAnswer, cursor: str | None, window: Window, unknown: UnknownWord
) -> Page[Refund]:
    """Read a page of refunds; the bank lists all, and those of the window are kept."""

    def shape(document: documents.Refunds) -> Page[Refund]:
        info = document.page_info
        if info.skip != paging.number_of(cursor):
            raise ValueError(Reason.WRONG_SHAPE)
        items = [_refund(each, unknown) for each in document.refunds]
        read = paging.skipped(items, cursor, more=info.has_next)
        fresh = paging.unrepeated(read, cursor, lambda refund: refund.provider_key)
        return translate.newest_first(fresh, window, lambda refund: refund.created_at)

    return translate.read(answer, documents.REFUNDS, shape)


def _outcome(
    answer: ProviderAnswer, shown: documents.Refund, order: RefundOrder, unknown: UnknownWord
) -> Outcome:
    """Read a refund's state; Unknown for a refund that is not the one ordered."""
    problem = _contradiction(shown, order)
    if problem is not None:
        return Unknown(answer.evidence(problem))
    evidence = answer.evidence(Reason.ANSWERED)
    refund_id, return_id = provider_id(shown.refund_id), _return_id(shown)
    match _status(shown, unknown):
        case RefundStatus.PROCESSING:
            return Accepted(
                evidence=evidence,
                provider_id=refund_id,
                e2e_id=return_id,
                provider_key=order.provider_key,
                value=order.value,
            )
        case RefundStatus.PAID:
            return Settled(
                evidence=evidence,
                value=order.value,
                provider_id=refund_id,
                e2e_id=return_id,
                provider_key=order.provider_key,
            )
        case RefundStatus.FAILED:
            evidence = answer.evidence(Reason.REFUSED)
            return Rejected(evidence=evidence, failure=FailureCode.OTHER)


def _contradiction(shown: documents.Refund, order: RefundOrder) -> Reason | None:
    """Return in what a refund differs from the order, if in anything."""
    if shown.correlation_id != order.provider_key:
        return Reason.KEY_MISMATCH
    if shown.value != order.value.centavos:
        return Reason.AMOUNT_MISMATCH
    same_payment = shown.comment is None or shown.comment == comment_of(order)
    return None if same_payment else Reason.E2E_ID_MALFORMED


def _refund(shown: documents.Refund, unknown: UnknownWord) -> Refund:
    """Read a refund; of one that was ordered elsewhere nobody tells the payment."""
    comment, payment = _comment(shown)
    status = _status(shown, unknown)
    return Refund(
        reference="",
        provider_key=shown.correlation_id,
        provider_id=provider_id(shown.refund_id),
        payment_e2e_id=payment,
        payment_reference="",
        return_id=_return_id(shown),
        value=translate.above_zero(shown.value),
        description=cleaned_text(comment),
        status=status,
        failure=FailureCode.OTHER if status is RefundStatus.FAILED else None,
        created_at=_created_at(shown),
        settled_at=None,
    )


def _comment(shown: documents.Refund) -> tuple[str, str]:
    """Split a comment of ours into the description and the payment."""
    text = shown.comment or ""
    ours = _OURS.fullmatch(text)
    return (text, "") if ours is None else (ours[1] or "", ours[2])


def _status(shown: documents.Refund, unknown: UnknownWord) -> RefundStatus:
    """Return where a refund stands; one of unknown state is still processing."""
    status = words.REFUND_STATUSES.get(shown.status or "")
    if status is None:
        unknown()
    return status or RefundStatus.PROCESSING


def _return_id(shown: documents.Refund) -> str:
    """Return the central bank's id of the way back; raises ``ValueError`` for what is none."""
    if shown.return_id and not is_e2e_id(shown.return_id):
        raise ValueError(Reason.E2E_ID_MALFORMED)
    return shown.return_id or ""


def _created_at(shown: documents.Refund) -> datetime:
    """Return when it was ordered; where no time is shown, the minute of its way back."""
    if shown.time is not None:
        return shown.time.astimezone(UTC)
    minute = _return_id(shown)[_MINUTE]
    return datetime.strptime(minute, "%Y%m%d%H%M").replace(tzinfo=UTC)
