"""Payouts in the back office (contract 4.3)."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Final, Never

from gateway.banks.failures import PARTNER_STORE_FAILS, PAYOUT_FAILS
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.providers import ProviderError
from gateway.core import errors
from gateway.core.calls import Caller
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.http.route import OK
from gateway.http.routing import CSV, READS, Routes, Shape, table
from gateway.payouts import documents
from gateway.payouts.bodies import KEY_PAYOUT, PAYOUT, withdraw_input
from gateway.payouts.create import CERTAINLY_NOT_SENT, Payouts
from gateway.payouts.documents import payout_created
from gateway.payouts.holds import HoldDecisions
from gateway.payouts.recipients import RECIPIENTS, PaidRecipients
from gateway.payouts.search import WITHDRAWS, PayoutFilterBody, PayoutsBody
from gateway.payouts.staff import PayoutActs, PayoutRecords
from policies.validation.bodies import body
from policies.validation.inputs import REFERENCE, SEARCH

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
_CANNOT_PAY: Final = (
    errors.ACCOUNT_INACTIVE,
    errors.ACCOUNT_UNVERIFIED,
    errors.PERMISSION_DENIED,
)
"""Whoever ordered a held payout could not order it now."""
_PROBED: Final = (*_ABSENT, NOT_POSSIBLE, errors.TOO_MANY_REQUESTS)


def partner_routes(payouts: Payouts) -> Routes:
    """Return the routes of partners."""
    partner = Routes("banking", priority=Priority.PAYOUTS, fails=PARTNER_STORE_FAILS, status=OK)
    account = "/account/{account_id}"
    one, by_reference = f"{account}/withdraw/{{reference}}", {"reference": REFERENCE}
    reads = Permission(Resource.WITHDRAW, Action.READ)
    pays = Permission(Resource.WITHDRAW, Action.WRITE)

    def cancel(caller: Caller) -> Awaitable[Never]:
        return payouts.cancel(caller, None)

    partner.post(
        f"{account}/withdraw",
        "payout_create",
        payouts.create,
        takes={"request": PAYOUT},
        shows=payout_created,
        fails={**PARTNER_STORE_FAILS, ProviderError: errors.PROVIDER_UNREACHABLE},
        raises=(
            *READS,
            errors.PAYOUT_DATE_NOT_TODAY,
            errors.PROVIDER_READ_ONLY,
            *CERTAINLY_NOT_SENT,
            errors.PAYOUT_REJECTED,
            errors.PAYOUT_REFERENCE_IN_USE,
            errors.PAYOUT_NOT_ALLOWED,
            errors.PAYOUTS_STOPPED,
            errors.CREDENTIAL_LIMIT,
            errors.PAYOUT_UNKNOWN,
            errors.BODY_TOO_LARGE,
            errors.REQUEST_TIMEOUT,
        ),
        summary="Pay out to a PIX key or a bank account.",
        needs=pays,
        quota="payout",
    )
    partner.get(
        one,
        "payout",
        payouts.read,
        takes=by_reference,
        shows=documents.payout,
        raises=_ABSENT,
        summary="Read a payout by its reference.",
        needs=reads,
        quota="read",
    )
    partner.get(
        f"{account}/withdraws",
        "payouts",
        payouts.search,
        takes={"search": SEARCH},
        shows=documents.payouts,
        summary="List payouts created within a window of days.",
        needs=reads,
        quota="read",
    )
    partner.delete(
        one,
        "payout_cancel",
        cancel,
        shows=documents.nothing,
        raises=(errors.CANCEL_NOT_IMPLEMENTED,),
        summary="Always refused: a submitted payout is final.",
        needs=pays,
        quota="payout",
    )
    return partner


def routes(
    records: PayoutRecords, acts: PayoutActs, holds: HoldDecisions, recipients: PaidRecipients
) -> Routes:
    """Return the routes."""
    office, account = Routes(), "/accounts/{account_id}"
    one, paid = f"{account}/withdraw/{{reference}}", {"reference": REFERENCE}
    office.get(one, "withdraw", acts.read, takes=paid, raises=_ABSENT)
    found = {"wanted": WITHDRAWS}
    office.post(f"{account}/withdraws/search", "withdraws", records.page, takes=found, status=OK)
    office.get(f"{one}/dossier", "withdraw_dossier", records.detail, takes=paid, raises=_ABSENT)
    office.post(f"{one}/probe", "withdraw_probe", acts.probe, takes=paid, raises=_PROBED, status=OK)
    decided: Shape = {"takes": paid, "raises": (*_ABSENT, NOT_POSSIBLE), "status": OK}
    office.post(f"{one}/refuse", "withdraw_refuse", holds.refuse, **decided)
    decided["raises"] = (*decided["raises"], errors.PAYOUTS_STOPPED, *_CANNOT_PAY)
    office.post(f"{one}/release", "withdraw_release", holds.release, **decided)
    every = {"wanted": replace(body(PayoutsBody), may_be_absent=False)}
    office.post("/payouts/search", "payouts", records.search, takes=every, status=OK)
    file: Shape = {
        "takes": {"wanted": replace(body(PayoutFilterBody), may_be_absent=False)},
        "shows": table("payouts.csv"),
        "media": (CSV,),
        "status": OK,
        "priority": Priority.HEAVY,
    }
    office.post("/payouts/export", "payouts_export", records.export, **file)
    office.get(f"{account}/recipients", "recipients", recipients.page, takes={"wanted": RECIPIENTS})
    office.get("/counts", "counts", records.open_work)
    ordered: Shape = {
        "shows": payout_created,
        "fails": PAYOUT_FAILS,
        "raises": _ORDERED,
        "status": OK,
        "priority": Priority.PAYOUTS,
    }
    to_account: Shape = {"takes": {"order": withdraw_input(PayoutMethod.BANK_ACCOUNT)}, **ordered}
    office.post(f"{account}/withdraw/bank-account", "withdraw_bank", acts.order, **to_account)
    by_key: Shape = {"takes": {"order": KEY_PAYOUT}, **ordered}
    office.post(f"{account}/withdraw/pix", "withdraw_pix", acts.order_by_key, **by_key)
    refused = (errors.CANCEL_NOT_IMPLEMENTED,)
    office.delete(one, "withdraw_cancel", acts.cancel, raises=refused, status=OK)
    return office
