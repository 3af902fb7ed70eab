"""
Charges and their payments, read from the bank's answers; no I/O.

A charge with a named payer is an invoice, one without is a dynamic BR Code. What
comes in for a BR Code is a deposit, tagged with it and with the end-to-end id in lower case.
Source of the tags: the bank's page "Pix QR Code"; of the end-to-end id among them: recorded
callbacks of others (third party), 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from gateway.banks.port.charges import Charge, ChargePayment, ChargeStatus, ChargeType, Party, Payer
from gateway.banks.port.providers import Page
from gateway.banks.port.refunds import IncomingPayment
from gateway.core.money import Money
from gateway.core.strict import cleaned_text, reference
from provider_adapters.kit import brcode, money
from provider_adapters.kit.answers import Inside, ProviderAnswer, is_e2e_id, known, provider_id
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.paging import continued
from provider_adapters.kit.times import utc
from provider_adapters.starkbank import documents, mapping
from provider_adapters.starkbank.documents import Brcode, Deposit, Invoice, InvoiceLog
from provider_adapters.starkbank.mapping import bare, error_codes, our_key, read, read_one
from provider_adapters.starkbank.requests import REFERENCE_TAG

Tagged = TypeVar("Tagged", Invoice, Brcode, Deposit)
Incoming = Deposit | InvoiceLog
"""Something that came in: by a BR Code or otherwise, or for an invoice."""

_ZONE: Final = ZoneInfo(mapping.ZONE)
_BRCODE_TAG: Final = "dynamic-brcode/"
_PIX: Final = "pix"
_ISPB_ENDS: Final = 9


def invoices(answer: ProviderAnswer, tag: str) -> Sequence[Invoice]:
    """Read the invoices that have a tag; the filter is not taken on trust."""
    return read(answer, documents.INVOICES, lambda found: _having(tag, found.inside))


def brcodes(answer: ProviderAnswer, tag: str) -> Sequence[Brcode]:
    """Read the dynamic BR Codes that have a tag."""
    return read(answer, documents.BRCODES, lambda found: _having(tag, found.inside))


def created_invoice(answer: ProviderAnswer) -> Invoice:
    """Read the invoice that was made."""
    return read(answer, documents.INVOICES, lambda made: _only(made.inside))


def created_brcode(answer: ProviderAnswer) -> Brcode:
    """Read the dynamic BR Code that was made."""
    return read(answer, documents.BRCODES, lambda made: _only(made.inside))


def cancelled_invoice(answer: ProviderAnswer, before: Invoice) -> Invoice:
    """
    Read the invoice that was cancelled.

    The bank's answer for an invoice already cancelled is undocumented: its own refusal then
    means that nothing was left to do.
    """
    codes = set(error_codes(answer))
    if before.status == mapping.CANCELED and codes and codes.isdisjoint(mapping.CREDENTIAL_CODES):
        return before
    return read_one(answer, documents.ONE_INVOICE, lambda changed: changed.inside)


def invoice_payment(answer: ProviderAnswer) -> documents.InvoicePayment:
    """Read how an invoice was paid."""
    return read_one(answer, documents.PAID_INVOICE, lambda found: found.inside)


def paid_at(answer: ProviderAnswer) -> datetime:
    """Read when an invoice was paid; a log without that contradicts the invoice."""

    def shape(found: Inside[list[InvoiceLog]]) -> datetime:
        moments = [log.created for log in found.inside if log.type == mapping.PAID]
        return min(moments).astimezone(UTC)

    return read(answer, documents.INVOICE_LOGS, shape)


def deposits_tagged(answer: ProviderAnswer, tag: str) -> Sequence[Deposit]:
    """Read deposits with a tag."""
    return read(answer, documents.DEPOSITS, lambda found: _having(tag, found.inside))


def deposits(answer: ProviderAnswer, cursor: str | None) -> Page[Incoming]:
    """Read a page of deposits, other than for invoices."""

    def shape(document: Inside[list[Deposit]]) -> Page[Incoming]:
        return continued(tuple(document.inside), cursor, document.cursor)

    return read(answer, documents.DEPOSITS, shape)


def paid_logs(answer: ProviderAnswer, cursor: str | None) -> Page[Incoming]:
    """Read a page of invoice events; only paid ones were requested."""

    def shape(document: Inside[list[InvoiceLog]]) -> Page[Incoming]:
        return continued(tuple(document.inside), cursor, document.cursor)

    return read(answer, documents.INVOICE_LOGS, shape)


def brcode_tag(brcode_uuid: str) -> str:
    """Return the tag of deposits for a dynamic BR Code."""
    return _BRCODE_TAG + brcode_uuid.lower()


def of_invoice(invoice: Invoice, asked: str, now: datetime, unknown: UnknownWord) -> Charge:
    """Make a charge of an invoice; one that the bank calls expired has expired by ``now``."""
    status = known(mapping.INVOICE_STATUSES, invoice.status, ChargeStatus.ACTIVE, unknown)
    expires_at = _end(invoice)
    if invoice.status == mapping.EXPIRED:
        expires_at = min(expires_at or now, now)
    asks = invoice.amount if invoice.nominal_amount is None else invoice.nominal_amount
    return replace(
        _charge(asked, invoice.brcode, asks, invoice.created),
        status=status,
        payer=Payer(name=cleaned_text(invoice.name), tax_number=bare(invoice.tax_id)),
        expires_at=utc(expires_at),
    )


def of_brcode(code: Brcode, asked: str, *, paid: bool) -> Charge:
    """Build a charge of a dynamic BR Code, which has no status itself."""
    charge = _charge(asked, code.id, code.amount, code.created)
    status = ChargeStatus.PAID if paid else ChargeStatus.ACTIVE
    if code.expiration is None:
        return replace(charge, status=status)
    ends = code.created + timedelta(seconds=code.expiration)
    return replace(charge, status=status, expires_at=ends.astimezone(UTC))


def paid_invoice(charge: Charge, payment: documents.InvoicePayment, at: datetime) -> ChargePayment:
    """Make a transaction of an invoice that is paid."""
    payer = Payer(name=cleaned_text(payment.name), tax_number=bare(payment.tax_id))
    return ChargePayment(
        reference=charge.reference,
        value=Money(payment.amount),
        created_at=charge.created_at,
        paid_at=at,
        e2e_id=payment.end_to_end_id if is_e2e_id(payment.end_to_end_id) else "",
        payer=payer,
    )


def paid_brcode(charge: Charge, paid: Deposit) -> ChargePayment:
    """Build a transaction of a paid dynamic BR Code; without a payer, as in the charge."""
    return ChargePayment(
        reference=charge.reference,
        value=Money(paid.amount),
        created_at=charge.created_at,
        paid_at=paid.created.astimezone(UTC),
        e2e_id=e2e_of(paid.tags),
        payer=None,
    )


def received(paid: Deposit, e2e_id: str) -> IncomingPayment:
    """Make a payment received of a deposit; raises ``ValueError`` for one that is none."""
    return IncomingPayment(
        reference=reference_of(paid.tags),
        e2e_id=e2e_id,
        provider_id=provider_id(paid.id),
        value=money.above_zero(paid.amount),
        refunded=Money(0),
        paid_at=paid.created.astimezone(UTC),
        payer=Payer(name=cleaned_text(paid.name), tax_number=bare(paid.tax_id)),
    )


def received_for_invoice(
    log: InvoiceLog, payment: documents.InvoicePayment
) -> IncomingPayment | None:
    """Make a payment received of a paid invoice; None for one that was not paid by Pix."""
    if log.type != mapping.PAID or not is_e2e_id(payment.end_to_end_id):
        return None
    return IncomingPayment(
        reference=reference_of(log.invoice.tags, of_invoice=True),
        e2e_id=payment.end_to_end_id,
        provider_id=provider_id(log.invoice.id),
        value=money.above_zero(payment.amount),
        refunded=Money(0),
        paid_at=log.created.astimezone(UTC),
        payer=Payer(name=cleaned_text(payment.name), tax_number=bare(payment.tax_id)),
    )


def is_pix(paid: Deposit) -> bool:
    """Return whether a deposit can be shown: Pix, with an end-to-end id, not fully refunded."""
    return paid.type == _PIX and paid.amount > 0 and e2e_of(paid.tags) != ""


def e2e_of(tags: Sequence[str]) -> str:
    """
    Return the end-to-end id among tags; empty where there is none, or more than one.

    The bank writes tags in lower case. Letter and ISPB are capitals again; the letters of
    the last eleven characters stay in lower case.
    """
    whole = (tag[:_ISPB_ENDS].upper() + tag[_ISPB_ENDS:] for tag in tags)
    found = [text for text in whole if is_e2e_id(text) and text.startswith("E")]
    return found[0] if len(found) == 1 else ""


def reference_of(tags: Sequence[str], *, of_invoice: bool = False) -> str:
    """
    Return the reference of a charge that tags name; empty where they name none.

    A charge created elsewhere has no tag of ours: it is found by its only other tag.
    A deposit without a BR Code pays no charge, with any tags; an invoice is one.
    """
    ours = [tag.removeprefix(REFERENCE_TAG) for tag in tags if tag.startswith(REFERENCE_TAG)]
    if ours:
        return _decoded(ours[0])
    codes = [tag.removeprefix(_BRCODE_TAG) for tag in tags if tag.startswith(_BRCODE_TAG)]
    known = {_BRCODE_TAG + code for code in codes} | {f"d{code}" for code in codes}
    others = [tag for tag in tags if tag not in known and not e2e_of([tag]) and not our_key([tag])]
    return others[0] if (codes or of_invoice) and len(others) == 1 else ""


def _decoded(digits: str) -> str:
    """Read a reference from hexadecimal digits; empty for an invalid one."""
    try:
        return reference(bytes.fromhex(digits).decode())
    except ValueError:
        return ""


def _charge(asked: str, emv: str, centavos: int, created_at: datetime) -> Charge:
    """
    Build an active anonymous charge, which never expires.

    An amount of 0 is one that the payer chooses; the key is not reported.
    """
    emv = emv.strip()
    code = brcode.receiver(emv)
    return Charge(
        reference=asked,
        type=ChargeType.DYNAMIC,
        key="",
        value=Money(centavos) if centavos else None,
        status=ChargeStatus.ACTIVE,
        emv=emv,
        reusable=False,
        payer=None,
        receiver=Party(name=cleaned_text(code.name)),
        city=cleaned_text(code.city),
        zip_code=cleaned_text(code.postal_code),
        created_at=created_at.astimezone(UTC),
        expires_at=None,
    )


def _end(invoice: Invoice) -> datetime | None:
    """Return when an invoice can no longer be paid: some time after its due date."""
    if invoice.due is None or invoice.expiration is None:
        return None
    return _due(invoice.due) + timedelta(seconds=invoice.expiration)


def _due(text: str) -> datetime:
    """Read a due date: an instant, or a day that ends in Sao Paulo."""
    try:
        return msgspec.convert(text, documents.Instant)
    except msgspec.ValidationError:
        day = datetime.fromisoformat(text).date()
        return datetime.combine(day, time.max, _ZONE)


def _having(tag: str, found: Sequence[Tagged]) -> Sequence[Tagged]:
    return [each for each in found if tag in each.tags]


def _only(made: Sequence[Tagged]) -> Tagged:
    """Return the one thing that was made; raises ``ValueError`` for none, or several."""
    (one,) = made
    return one
