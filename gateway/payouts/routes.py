"""Payouts in the back office (contract 4.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gateway.banks.failures import PAYOUT_FAILS
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core import errors
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.http.backoffice.callers import READS
from gateway.http.backoffice.files import CSV, table
from gateway.http.backoffice.routing import Routes, Shape
from gateway.http.route import OK
from gateway.payouts.bodies import KEY_PAYOUT, withdraw_input
from gateway.payouts.create import CERTAINLY_NOT_SENT
from gateway.payouts.documents import payout_created
from gateway.payouts.search import WITHDRAWS, PayoutFilterBody, PayoutsBody
from gateway.payouts.staff import PayoutActs, PayoutRecords
from policies.validation.bodies import body
from policies.validation.inputs import REFERENCE

_ORDERED: Final = (
    *READS,
    errors.ALREADY_IN_USE,
    errors.PAYOUT_DATE_NOT_TODAY,
    errors.PROVIDER_READ_ONLY,
    *CERTAINLY_NOT_SENT,
    errors.PAYOUT_REJECTED,
    errors.PAYOUT_REFERENCE_IN_USE,
    errors.PAYOUT_NOT_ALLOWED,
    errors.PAYOUTS_STOPPED,
    errors.PAYOUT_UNKNOWN,
)
_ABSENT: Final = (errors.PAYOUT_NOT_FOUND,)
_PROBED: Final = (*_ABSENT, NOT_POSSIBLE, errors.TOO_MANY_REQUESTS)


def routes(records: PayoutRecords, acts: PayoutActs) -> Routes:
    """Return the routes."""
    office, account = Routes(), "/accounts/{account_id}"
    one, paid = f"{account}/withdraw/{{reference}}", {"reference": REFERENCE}
    office.get(one, "withdraw", acts.read, takes=paid, raises=_ABSENT)
    found = {"wanted": WITHDRAWS}
    office.post(f"{account}/withdraws/search", "withdraws", records.page, takes=found, status=OK)
    office.get(f"{one}/dossier", "withdraw_dossier", records.detail, takes=paid, raises=_ABSENT)
    office.post(f"{one}/probe", "withdraw_probe", acts.probe, takes=paid, raises=_PROBED, status=OK)
    every = {"wanted": replace(body(PayoutsBody), may_be_absent=False)}
    office.post("/payouts/search", "payouts", records.search, takes=every, status=OK)
    file: Shape = {
        "takes": {"wanted": replace(body(PayoutFilterBody), may_be_absent=False)},
        "shows": table("payouts.csv"),
        "media": (CSV,),
        "status": OK,
    }
    office.post("/payouts/export", "payouts_export", records.export, **file)
    office.get("/counts", "counts", records.open_work)
    ordered: Shape = {
        "shows": payout_created,
        "fails": PAYOUT_FAILS,
        "raises": _ORDERED,
        "status": OK,
    }
    to_account: Shape = {"takes": {"order": withdraw_input(PayoutMethod.BANK_ACCOUNT)}, **ordered}
    office.post(f"{account}/withdraw/bank-account", "withdraw_bank", acts.order, **to_account)
    by_key: Shape = {"takes": {"order": KEY_PAYOUT}, **ordered}
    office.post(f"{account}/withdraw/pix", "withdraw_pix", acts.order_by_key, **by_key)
    refused = (errors.CANCEL_NOT_IMPLEMENTED,)
    office.delete(one, "withdraw_cancel", acts.cancel, raises=refused, status=OK)
    return office
