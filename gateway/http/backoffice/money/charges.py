"""Rows of charges as PIX QR codes (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.http.backoffice.callers import (
    CHANGES,
    READS,
    AccountCaller,
    as_actor,
    as_caller,
    bank_fails,
)
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    writing,
)
from gateway.http.resources import represent as resources
from gateway.http.route import Row, route
from policies.validation.backoffice.orders import CHARGE
from policies.validation.inputs import REFERENCE

_FAILS: Final = bank_fails(errors.CHARGE_UNAVAILABLE)
_ONE_FAILS: Final = bank_fails(errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND)


def qrcode_reading_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that reads a QR code."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/pix/qrcode/{reference}",
            name="backoffice.qrcode",
            summary="Read a charge as a PIX QR code.",
            needs=reading(Area.QRCODE),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=as_caller(does.bank.charges.read),
            shows=resources.charge,
            fails=_ONE_FAILS,
            raises=(*READS, errors.CHARGE_NOT_FOUND),
        ),
    )


def qrcode_acting_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that change QR codes."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/qrcode",
            name="backoffice.qrcode_generate",
            summary="Make a charge; answers its PIX QR code.",
            needs=writing(Area.QRCODE),
            limits=WITH_BODY,
            takes=CHARGE,
            runs=as_actor(does.bank.charge_orders.create),
            shows=resources.charge,
            fails=_FAILS,
            raises=CHANGES,
            status=CREATED,
        ),
        route(
            "DELETE",
            "/accounts/{account_id}/pix/qrcode/{reference}",
            name="backoffice.qrcode_cancel",
            summary="Cancel a charge; answers its QR code with status Canceled.",
            needs=writing(Area.QRCODE),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=as_actor(does.bank.charge_orders.cancel),
            shows=resources.charge,
            fails=_ONE_FAILS,
            raises=CHANGES,
        ),
    )
