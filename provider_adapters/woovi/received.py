"""
Woovi's transactions as payments received; no I/O.

A transaction is money that came in, went out, was given back, or a fee; of those that came in,
some pay a charge.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from operator import attrgetter
from typing import Final

from gateway.banks.port.answers import LONGEST_ID
from gateway.banks.port.charges import Charge, ChargePayment
from gateway.banks.port.providers import BadReply, NotFound, Page, Reason
from gateway.banks.port.refunds import IncomingPayment, RefundStatus
from gateway.core.money import Money
from gateway.core.strict import cleaned_text
from provider_adapters.kit import money, paging
from provider_adapters.kit.answers import Inside, ProviderAnswer, is_e2e_id
from provider_adapters.kit.client import UnknownWord
from provider_adapters.woovi import documents, mapping

_MAY_HAVE_COME_IN: Final = frozenset({mapping.RECEIVED, ""})
"""One of an unknown kind is shown where payments were asked for."""


def received_payment(answer: ProviderAnswer) -> documents.Transaction:
    """Read one transaction that came in."""
    found = mapping.read(answer, documents.TRANSACTION, lambda document: document.inside)
    if kind_of(found, answer.unknown_word) != mapping.RECEIVED:
        raise NotFound(Reason.NOT_FOUND)
    return found


def received_payments(
    answer: ProviderAnswer, cursor: str | None, limit: int
) -> Page[documents.Transaction]:
    """
    Read the payments of a page of transactions.

    The bank is asked for payments alone, and its document leaves open whether it heeds that. A
    page that it filled further than asked for is cut.
    """

    def shape(document: documents.Transactions) -> Page[documents.Transaction]:
        info, rows = document.page_info, document.transactions[:limit]
        if info.skip != paging.number_of(cursor):
            raise ValueError(Reason.WRONG_SHAPE)
        more = info.has_next or len(rows) < len(document.transactions)
        page = paging.skipped(rows, cursor, more=more)
        fresh = paging.unrepeated(page, cursor, lambda found: found.e2e_id or "")
        came = [_usable(each) for each in fresh.items if kind_of(each) in _MAY_HAVE_COME_IN]
        return replace(fresh, items=came)

    return mapping.read(answer, documents.TRANSACTIONS, shape)


def _usable(found: documents.Transaction) -> documents.Transaction:
    """Return a transaction that can be shown as a payment; raises ``ValueError`` for another."""
    if not is_e2e_id(found.e2e_id or "") or found.value <= 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return found


def charge_payment(answer: ProviderAnswer, of: Charge) -> ChargePayment:
    """
    Read the payment of a charge that the bank calls paid.

    Of several it is the first that reaches the charge's amount, which ended the charge, else the
    latest. Without one the answer is ``BadReply``: the charge is not reported as unpaid.
    """
    asked = of.value.centavos if of.value else 0

    def shape(document: documents.Transactions) -> ChargePayment:
        found = [each for each in document.transactions if kind_of(each) == mapping.RECEIVED]
        enough = [each for each in found if each.value >= asked]
        if not found:
            raise ValueError(Reason.WRONG_SHAPE)
        at = attrgetter("time")
        paid = min(enough, key=at) if enough else max(found, key=at)
        return _charge_payment(paid, of)

    return mapping.read(answer, documents.TRANSACTIONS, shape)


def charge_refunds(answer: ProviderAnswer) -> Money:
    """Read how much of a charge was given back, or is about to be."""

    def shape(document: Inside[list[documents.ChargeRefund]]) -> Money:
        given = [
            money.above_zero(each.value).centavos
            for each in document.inside
            if mapping.REFUND_STATUSES.get(each.status) is not RefundStatus.FAILED
        ]
        return Money(sum(given))

    return mapping.read(answer, documents.CHARGE_REFUNDS, shape, whole=True)


def incoming(found: documents.Transaction, refunded: Money) -> IncomingPayment:
    """Make a payment received of a transaction; raises ``BadReply`` for an invalid one."""
    e2e_id = found.e2e_id or ""
    if not is_e2e_id(e2e_id):
        raise BadReply(Reason.E2E_ID_MALFORMED)
    if not 0 <= refunded.centavos <= found.value or found.value == 0:
        raise BadReply(Reason.WRONG_SHAPE)
    return IncomingPayment(
        reference=charge_of(found),
        e2e_id=e2e_id,
        provider_id=cleaned_text(found.global_id, LONGEST_ID),
        value=Money(found.value),
        refunded=refunded,
        paid_at=found.time.astimezone(UTC),
        payer=mapping.payer(found.payer, found.info),
    )


def charge_of(found: documents.Transaction) -> str:
    """Return the reference of the charge that a transaction paid; empty for none."""
    return "" if found.charge is None else cleaned_text(found.charge.correlation_id)


def kind_of(found: documents.Transaction, unknown: UnknownWord | None = None) -> str:
    """Return the kind of a transaction; empty for an unknown word."""
    for word in (found.type, found.status):
        if word in mapping.TRANSACTION_KINDS:
            return str(word)
    if unknown is not None:
        unknown()
    return ""


def _charge_payment(paid: documents.Transaction, of: Charge) -> ChargePayment:
    """Read a payment; the bank's test environment has end-to-end ids that are none."""
    e2e_id = paid.e2e_id or ""
    return ChargePayment(
        reference=of.reference,
        value=money.above_zero(paid.value),
        created_at=of.created_at,
        paid_at=paid.time.astimezone(UTC),
        e2e_id=e2e_id if is_e2e_id(e2e_id) else "",
        payer=of.payer and (mapping.payer(paid.payer, paid.info) or of.payer),
    )
