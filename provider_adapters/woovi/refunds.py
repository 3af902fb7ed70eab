"""
Woovi's answers about refunds, as outcomes and as values.

Only listed answers to an order are returned. All others are raised, and the client turns them
into Unknown. No refusal of a refund is written down in the bank's documents, so none is final.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Outcome, Page, Reason
from gateway.banks.port.refunds import Refund, RefundOrder, RefundStatus
from gateway.core.money import Money
from gateway.core.strict import cleaned_text
from gateway.core.windows import Window
from provider_adapters.kit import money, paging
from provider_adapters.kit.answers import (
    Inside,
    ProviderAnswer,
    is_e2e_id,
    known,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import (
    STATES_OF_REFUNDS,
    Expected,
    Shown,
    outcome_of,
    refused_before,
)
from provider_adapters.woovi import documents, mapping
from provider_adapters.woovi.requests import comment_of

# A comment of ours ends in the payment that is given back (``requests.comment_of``).
_OURS: Final = re.compile(r"(?:(.*) )?(E[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11})", re.ASCII | re.DOTALL)
# An end-to-end id names its minute, in UTC: D, eight of the bank's, then this.
_MINUTE: Final = slice(9, 21)


def created(answer: ProviderAnswer, order: RefundOrder) -> Outcome:
    """
    Read the answer to an order.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    code = mapping.error_code(answer)
    refused = refused_before(answer, code, mapping.REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(document: Inside[documents.Refund]) -> Outcome:
        return _outcome(answer, document.inside, order)

    return read_document(answer, documents.REFUND_ORDERED, shape, mapping.CREATED)


def found(answer: ProviderAnswer, provider_key: str) -> Refund:
    """
    Read the answer to a lookup.

    Raises:
        ProviderError: NotFound only for the bank's own sentence for it; BadReply for a refund
            of another key.
    """

    def shape(document: Inside[documents.Refund]) -> Refund:
        refund = _refund(document.inside, answer.unknown_word)
        if refund.provider_key != provider_key:
            raise ValueError(Reason.KEY_MISMATCH)
        return refund

    return mapping.read(answer, documents.REFUND, shape)


def page(answer: ProviderAnswer, cursor: str | None, window: Window) -> Page[Refund]:
    """Read a page of refunds; the bank lists all, and refunds outside the window are dropped."""

    def shape(document: documents.Refunds) -> Page[Refund]:
        info = document.page_info
        if info.skip != paging.number_of(cursor):
            raise ValueError(Reason.WRONG_SHAPE)
        items = [_refund(each, answer.unknown_word) for each in document.refunds]
        read = paging.skipped(items, cursor, more=info.has_next)
        fresh = paging.unrepeated(read, cursor, lambda refund: refund.provider_key)
        return mapping.newest_first(fresh, window, lambda refund: refund.created_at)

    return mapping.read(answer, documents.REFUNDS, shape)


def _outcome(answer: ProviderAnswer, shown: documents.Refund, order: RefundOrder) -> Outcome:
    """Read a refund's state; Unknown for a refund that is not the one ordered."""
    same_payment = shown.comment is None or shown.comment == comment_of(order)
    seen = Shown(
        state=STATES_OF_REFUNDS[_status(shown, answer.unknown_word)],
        provider_key=shown.correlation_id,
        value=Money(shown.value),
        provider_id=shown.refund_id,
        e2e_id=_return_id(shown) or None,
        problem=None if same_payment else Reason.E2E_ID_MALFORMED,
    )
    return outcome_of(answer, seen, Expected(order.provider_key, order.value), ordered=True)


def _refund(shown: documents.Refund, unknown: UnknownWord) -> Refund:
    """Read a refund; for one ordered elsewhere the bank names no payment."""
    comment, payment = _comment(shown)
    status = _status(shown, unknown)
    return Refund(
        reference="",
        provider_key=shown.correlation_id,
        provider_id=provider_id(shown.refund_id),
        payment_e2e_id=payment,
        payment_reference="",
        return_id=_return_id(shown),
        value=money.above_zero(shown.value),
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
    """Return the status of a refund; an unknown one is still processing."""
    return known(mapping.REFUND_STATUSES, shown.status or "", RefundStatus.PROCESSING, unknown)


def _return_id(shown: documents.Refund) -> str:
    """Return the central bank's id of the way back; raises ``ValueError`` for an invalid one."""
    if shown.return_id and not is_e2e_id(shown.return_id):
        raise ValueError(Reason.E2E_ID_MALFORMED)
    return shown.return_id or ""


def _created_at(shown: documents.Refund) -> datetime:
    """Return when it was ordered; where no time is shown, the minute of its way back."""
    if shown.time is not None:
        return shown.time.astimezone(UTC)
    minute = _return_id(shown)[_MINUTE]
    return datetime.strptime(minute, "%Y%m%d%H%M").replace(tzinfo=UTC)
