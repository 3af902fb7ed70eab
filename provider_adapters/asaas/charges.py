"""Charges built from several answers: the charge, its QR code, its payer."""

from __future__ import annotations

from typing import TypeVar

from gateway.banks.port.charges import Charge, ChargePayment, ChargeStatus, ChargeType, Party, Payer
from gateway.banks.port.providers import NotFound, Reason
from provider_adapters.asaas import documents, mapping
from provider_adapters.asaas.mapping import instant_or_none, payer
from provider_adapters.kit import brcode, money
from provider_adapters.kit.answers import (
    ProviderAnswer,
    is_e2e_id,
    known,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord

Row = TypeVar("Row", documents.Payment, documents.PixTransaction)


def _valued(row: Row) -> Row:
    """Return a row; raises ``ValueError`` unless its amount is above zero."""
    money.above_zero(row.value)
    return row


def charge_row(answer: ProviderAnswer, reference: str) -> documents.Payment:
    """
    Find a charge in the answer to a search: the newest that was not removed, if there is one.

    Raises:
        NotFound: no row has this very reference.
    """

    def shape(document: documents.Listing[documents.Payment]) -> documents.Payment:
        rows = [row for row in document.data if row.external_reference == reference]
        if not rows:
            raise NotFound(Reason.NOT_FOUND, http_status=answer.status)
        return _valued(max(rows, key=lambda row: (not row.deleted, row.date_created or "")))

    return read_document(answer, documents.PAYMENTS, shape)


def made_charge(answer: ProviderAnswer) -> documents.Payment:
    """Read a charge that was made."""
    return read_document(answer, documents.PAYMENT, _valued)


def qr_code(answer: ProviderAnswer) -> documents.QrCode:
    """Read the QR code of a charge."""
    return read_document(answer, documents.QR_CODE, lambda document: document)


def customer(answer: ProviderAnswer) -> Payer | None:
    """Read the requested payer."""
    return read_document(answer, documents.CUSTOMER, payer)


def customer_id(answer: ProviderAnswer) -> str:
    """Read the id of a customer that was made."""
    return read_document(answer, documents.CUSTOMER, lambda document: provider_id(document.id))


def known_customer(answer: ProviderAnswer, tax_number: str) -> str:
    """Read the id of a customer by tax number; empty where the bank has none."""

    def shape(document: documents.Listing[documents.Customer]) -> str:
        ids = (
            provider_id(row.id)
            for row in document.data
            if row.cpf_cnpj == tax_number and not row.deleted
        )
        return next(ids, "")

    return read_document(answer, documents.CUSTOMERS, shape)


def charge_status(row: documents.Payment, unknown: UnknownWord) -> ChargeStatus:
    """
    Return the status of a charge; an unknown word counts as active, so that it is read again.

    A payment counts before all other fields.
    """
    state = known(mapping.CHARGE_STATUSES, row.status, ChargeStatus.ACTIVE, unknown)
    if row.payment_date or row.pix_transaction:
        return ChargeStatus.PAID
    is_removed = row.deleted and state is not ChargeStatus.PAID
    return ChargeStatus.CANCELED if is_removed else state


def charge(
    row: documents.Payment,
    status: ChargeStatus,
    code: documents.QrCode | None,
    payer: Payer | None,
) -> Charge:
    """
    Build a charge; the receiver is only in the QR code.

    Raises:
        ValueError: The amount or a date is none.
    """
    emv = code.payload.strip() if code else ""
    named = brcode.receiver(emv)
    return Charge(
        reference=row.external_reference or "",
        type=ChargeType.DYNAMIC,
        key="",
        value=money.above_zero(row.value),
        status=status,
        emv=emv,
        reusable=False,
        payer=payer,
        receiver=Party(name=named.name),
        city=named.city,
        zip_code=named.postal_code or "",
        created_at=instant_or_none(row.date_created),
        expires_at=instant_or_none(code.expiration_date) if code else None,
    )


def charge_payment(
    row: documents.Payment, transaction: documents.PixTransaction | None, payer: Payer | None
) -> ChargePayment:
    """
    Build a charge as a transaction: pending, or paid as ``charge_status`` decides.

    Raises:
        ValueError: An amount or a date is invalid, or a paid one lacks its time.
    """
    paid = transaction and (transaction.effective_date or transaction.date_created)
    date = paid or row.payment_date or row.client_payment_date or row.confirmed_date
    is_paid = charge_status(row, lambda: None) is ChargeStatus.PAID
    if is_paid and not date:
        raise ValueError(Reason.WRONG_SHAPE)
    return ChargePayment(
        reference=row.external_reference or "",
        value=money.above_zero(transaction.value if transaction else row.value),
        created_at=instant_or_none(row.date_created),
        paid_at=instant_or_none(date) if is_paid else None,
        e2e_id=_e2e_id(transaction) if transaction else "",
        payer=payer,
    )


def _e2e_id(transaction: documents.PixTransaction) -> str:
    """Return the end-to-end id of a Pix; empty for an invalid one."""
    found = transaction.end_to_end_identifier or ""
    return found if is_e2e_id(found) else ""


def pix_transaction(answer: ProviderAnswer) -> documents.PixTransaction:
    """Read one Pix."""
    return read_document(answer, documents.PIX_TRANSACTION, _valued)


def payer_of(transaction: documents.PixTransaction) -> Payer | None:
    """Return the payer, where the bank names one."""
    return payer(transaction.external_account) if transaction.external_account else None
