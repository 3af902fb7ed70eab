"""Charges as QR codes and as transactions (contract 2.4, 2.5)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from gateway.banks.port.charges import Charge, ChargePayment, Payer
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Money
from gateway.core.schemas import Instant, instant
from gateway.core.strict import hidden_tax_number
from gateway.core.structs import struct_of
from gateway.http.common import OfAccount, PartyDocument
from gateway.http.rendering import Amount, minute

_ZERO = Money(0)


Minute = Annotated[
    str,
    Meta(
        description="UTC; empty when absent",
        pattern=r"^(\d{4}-\d{2}-\d{2} \d{2}:\d{2})?$",
        examples=["2026-09-22 13:40"],
    ),
]


_EMV = (
    "00020126390014br.gov.bcb.pix0117maria@example.com520400005303986540510.50"
    "5802BR5911Maria Silva6009Sao Paulo62070503***63041A1B"
)


class PayerDocument(TypedDict):
    """Who pays."""

    name: fields.PersonName
    tax_number: fields.PersonTaxNumber
    message: Annotated[str, meaning("What the payer wrote.", "Order 1042")]


class LocationDocument(TypedDict):
    """Where the receiver is."""

    city: Annotated[str, meaning("City of the location.", "Sao Paulo")]
    zip_code: Annotated[str, meaning("CEP of the location.", "01310100")]


class QrCodeDocument(TypedDict):
    """The EMV copy-and-paste payload."""

    hash: Annotated[
        str,
        Meta(
            description="The text to copy and paste, and what the QR code holds.", examples=[_EMV]
        ),
    ]


class ChargeDocument(Struct, frozen=True):
    """A charge as a QR code; an anonymous one has no payer."""

    id: fields.Id
    name: fields.PersonName
    description: fields.Description
    reference: fields.Reference
    type: Annotated[Literal["Dynamic", "Static"], meaning("Which type it is.")]
    key: fields.PixKey
    receiver: PartyDocument
    location: LocationDocument
    qrcode: QrCodeDocument
    reusable: Annotated[bool, meaning("Whether it may be paid several times.")]
    expires_at: Minute
    value: Annotated[
        Amount, meaning("Reais with two decimals; 0.00 where the payer chooses the amount.")
    ]
    status: Annotated[Literal["Active", "Paid", "Canceled"], meaning("The state that it is in.")]
    created_at: Minute
    payer: PayerDocument | UnsetType = UNSET


class PaymentFields(TypedDict):
    """Fields common to a charge's payment and a payment received."""

    reference: fields.Reference
    value: Amount
    paid_at: Instant
    e2e_id: fields.E2eId
    payer: NotRequired[PayerDocument]


class TransactionDocument(PaymentFields):
    """A charge as a transaction; pending until it is paid."""

    status: Annotated[Literal["pending", "paid"], meaning("The state that it is in.")]
    created_at: Instant


def charge(found: Charge, _caller: OfAccount) -> ChargeDocument:
    """Show a charge as a QR code (contract 2.4)."""
    return struct_of(
        ChargeDocument,
        found,
        id="",
        name="",
        description="",
        receiver={"name": found.receiver.name, "tax_number": found.receiver.tax_number},
        location={"city": found.city, "zip_code": found.zip_code},
        qrcode={"hash": found.emv},
        expires_at=minute(found.expires_at),
        value=found.value or _ZERO,
        created_at=minute(found.created_at),
        payer=UNSET if found.payer is None else payer(found.payer),
    )


def charge_for_staff(found: Charge, caller: OfAccount) -> ChargeDocument:
    """Show the same charge, with the payer's tax number in part if it is a person's."""
    shown = charge(found, caller)
    if found.payer is None:
        return shown
    return structs.replace(shown, payer=payer_for_staff(found.payer))


def transaction(found: ChargePayment, _caller: OfAccount) -> TransactionDocument:
    """Show a charge as a transaction (contract 2.5)."""
    shown: TransactionDocument = {
        "reference": found.reference,
        "status": "pending" if found.paid_at is None else "paid",
        "value": found.value or _ZERO,
        "created_at": instant(found.created_at),
        "paid_at": instant(found.paid_at),
        "e2e_id": found.e2e_id,
    }
    if found.payer is not None:
        shown["payer"] = payer(found.payer)
    return shown


def payer_for_staff(who: Payer) -> PayerDocument:
    """Show a payer, with a person's tax number in part."""
    return {**payer(who), "tax_number": hidden_tax_number(who.tax_number)}


def payer(who: Payer) -> PayerDocument:
    """Show a payer."""
    return {"name": who.name, "tax_number": who.tax_number, "message": who.message}
