"""The sandbox bank's tools: in the back office, and for partners; absent in production."""

from __future__ import annotations

from typing import Final

from gateway.banks.failures import PARTNER_STORE_FAILS, partner_bank_fails
from gateway.charges import documents as charge_documents
from gateway.charges.orders import CHARGE
from gateway.core import errors
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.http.common import STORE_FAILS
from gateway.http.route import OK
from gateway.http.routing import CHANGES, REFUSED, Routes
from gateway.sandbox.model import (
    DepositBody,
    NothingBody,
    PartnerFaultBody,
    PaymentBody,
    ReturnBody,
)
from gateway.sandbox.partners import PartnerSandbox
from gateway.sandbox.self_service import SelfService
from gateway.sandbox.service import SandboxTools
from policies.validation.bodies import ORDERS, body
from policies.validation.inputs import REFERENCE

SURFACE: Final = "sandbox"
_CHARGES: Final = Permission(Resource.QRCODE, Action.WRITE)
_PAYOUTS: Final = Permission(Resource.WITHDRAW, Action.WRITE)
_CHARGE_FAILS: Final = {
    **partner_bank_fails(errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND),
    **PARTNER_STORE_FAILS,
}
_BANK_REFUSES: Final = (errors.PROVIDER_NOT_CONFIGURED, errors.PROVIDER_BUSY, errors.BANK_REFUSED)


def routes(tools: SandboxTools) -> Routes:
    """Return the routes of staff."""
    office, faults = Routes(raises=REFUSED, status=OK), "/sandbox/faults"
    office.get("/sandbox", "sandbox", tools.state)
    office.post("/sandbox/payments", "sandbox_pay", tools.pay)
    office.post("/sandbox/top-ups", "sandbox_top_up", tools.top_up)
    office.post(faults, "sandbox_fault", tools.inject)
    office.delete(faults, "sandbox_faults_clear", tools.clear)
    office.post("/sandbox/clock", "sandbox_clock", tools.move_clock)
    return office


def partner_routes(sandbox: PartnerSandbox) -> Routes:
    """Return the routes of partners: charges by ``qrcode:write``, the rest by its resource."""
    partner = Routes(
        SURFACE,
        "/account/{account_id}",
        quota="read",
        priority=Priority.PARTNERS,
        fails=PARTNER_STORE_FAILS,
        raises=_BANK_REFUSES,
        status=OK,
    )
    partner.post(
        "/charges",
        "charge_create",
        sandbox.create_charge,
        takes={"order": CHARGE},
        needs=_CHARGES,
        shows=charge_documents.charge,
        fails=_CHARGE_FAILS,
        raises=CHANGES,
    )
    partner.post(
        "/charges/{reference}/pay",
        "charge_pay",
        sandbox.pay_charge,
        takes={"reference": REFERENCE, "wanted": body(PaymentBody, ORDERS)},
        needs=_CHARGES,
        raises=(*_BANK_REFUSES, errors.CHARGE_NOT_FOUND),
    )
    partner.post(
        "/charges/{reference}/cancel",
        "charge_cancel",
        sandbox.cancel_charge,
        takes={"reference": REFERENCE},
        needs=_CHARGES,
        shows=charge_documents.charge,
        fails=_CHARGE_FAILS,
        raises=CHANGES,
    )
    partner.post(
        "/top-up",
        "top_up",
        sandbox.top_up,
        takes={"wanted": body(DepositBody, ORDERS)},
        needs=_PAYOUTS,
    )
    partner.post(
        "/payouts/{reference}/return",
        "payout_return",
        sandbox.return_payout,
        takes={"reference": REFERENCE, "wanted": body(ReturnBody, ORDERS)},
        needs=_PAYOUTS,
        raises=(*_BANK_REFUSES, errors.PAYOUT_NOT_FOUND),
    )
    partner.post(
        "/faults",
        "fault",
        sandbox.order_fault,
        takes={"wanted": body(PartnerFaultBody, ORDERS)},
        needs=_PAYOUTS,
    )
    return partner


def open_routes(service: SelfService) -> Routes:
    """Return the route that is called before there is a credential."""
    opened = Routes(SURFACE, needs=None, quota="anonymous", priority=Priority.STRANGERS)
    opened.post(
        "/credentials",
        "credentials",
        service.open,
        takes={"_wanted": body(NothingBody, ORDERS)},
        fails=STORE_FAILS,
        raises=(errors.TOO_MANY_REQUESTS, errors.PROVIDER_NOT_CONFIGURED, errors.PROVIDER_BUSY),
    )
    return opened
