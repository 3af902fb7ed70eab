"""Routes of charges, as PIX QR codes and as stored (contract 4.3)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, TypedDict

from msgspec import Meta

from gateway.banks.failures import bank_fails, partner_bank_fails
from gateway.charges import documents as charge_documents
from gateway.charges.model import ChargePage, ChargeRecord, ChargeRecordDocument
from gateway.charges.orders import CHARGE
from gateway.charges.searches import CHARGES
from gateway.charges.service import ChargeReads, Charges
from gateway.core import errors
from gateway.core.fields import meaning
from gateway.core.money import ZERO
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.core.structs import struct_of
from gateway.http.common import STORE_FAILS
from gateway.http.gates import StaffCaller
from gateway.http.route import OK
from gateway.http.routing import CHANGES, READS, Routes
from policies.validation.backoffice.inputs import cursor
from policies.validation.inputs import REFERENCE

_QRCODE: Final = "/accounts/{account_id}/pix/qrcode"
_FAILS: Final = bank_fails(errors.CHARGE_UNAVAILABLE)
_ONE_FAILS: Final = bank_fails(errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND)
Cursor = Annotated[
    str,
    Meta(
        description="Where the next page begins; empty on the last one.",
        examples=["1790084411000000-3f2a1c9e-6b1d-4a58-9c0e-5d7f1b2a3c4d"],
    ),
]


class KeysetMeter(TypedDict):
    """The size of a page, and the cursor of the next one."""

    limit: Annotated[int, meaning("Rows a page, at most 100.", 25)]
    next: Cursor


class ChargeRecordList(TypedDict):
    """A page of charges, newest first."""

    data: Annotated[list[ChargeRecordDocument], meaning("The rows of this page.")]
    meta: KeysetMeter


def partner_routes(charges: ChargeReads) -> Routes:
    """Return the routes of partners."""
    partner = Routes(
        "banking", quota="read", priority=Priority.PARTNERS, takes={"reference": REFERENCE}
    )
    partner.get(
        "/account/{account_id}/pix/qrcode/{reference}",
        "qrcode",
        charges.read,
        needs=Permission(Resource.QRCODE, Action.READ),
        shows=charge_documents.charge,
        fails=partner_bank_fails(errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND),
        raises=(*READS, errors.CHARGE_NOT_FOUND),
        summary="Read a charge as a PIX QR code.",
    )
    partner.get(
        "/account/{account_id}/pix/transactions/{reference}",
        "pix_transaction",
        charges.read_payment,
        needs=Permission(Resource.TRANSACTION, Action.READ),
        shows=charge_documents.transaction,
        fails=partner_bank_fails(errors.TRANSACTION_UNAVAILABLE, errors.TRANSACTION_NOT_FOUND),
        raises=READS,
        summary="Resolve a charge to its payment, pending until it is paid.",
    )
    return partner


def routes(charges: Charges) -> Routes:
    """Return the routes."""
    office = Routes(shows=charge_documents.charge_for_staff, fails=_ONE_FAILS, raises=CHANGES)
    one, by_reference = f"{_QRCODE}/{{reference}}", {"reference": REFERENCE}
    office.get(
        "/charges",
        "charges",
        charges.search,
        takes={"wanted": CHARGES},
        shows=page,
        fails=STORE_FAILS,
        raises=(),
    )
    office.get(
        one, "qrcode", charges.get, takes=by_reference, raises=(*READS, errors.CHARGE_NOT_FOUND)
    )
    office.post(_QRCODE, "qrcode_generate", charges.create, takes={"order": CHARGE}, fails=_FAILS)
    office.delete(one, "qrcode_cancel", charges.cancel, takes=by_reference, status=OK)
    return office


def page(found: ChargePage, _who: StaffCaller) -> ChargeRecordList:
    """Return a page of stored charges."""
    following = "" if found.next is None else cursor(found.next)
    return {
        "data": [_charge(each, found.now) for each in found.charges],
        "meta": {"limit": found.limit, "next": following},
    }


def _charge(found: ChargeRecord, now: datetime) -> ChargeRecordDocument:
    status = found.state_at(now)
    value, paid = found.value or ZERO, found.paid_value or ZERO
    return struct_of(ChargeRecordDocument, found, value=value, paid_value=paid, status=status)
