"""Files of payouts in the back office."""

from __future__ import annotations

from typing import Final

from gateway.banks.failures import PAYOUT_FAILS
from gateway.batches.model import BatchFile
from gateway.batches.searches import BATCHES, ROWS
from gateway.batches.service import Batches
from gateway.core import errors
from gateway.core.priority import Priority
from gateway.core.user_errors import FORBIDDEN, NOT_POSSIBLE
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, CSV, Routes, Shape, table
from policies.validation.bodies import body

_BODY_BYTES: Final = 384 * 1024
"""The largest file in Base64, and its name."""
_PAYING: Final = (
    errors.PROVIDER_NOT_CONFIGURED,
    errors.PROVIDER_READ_ONLY,
    errors.PAYOUTS_STOPPED,
    errors.ACCOUNT_NOT_FOUND,
    errors.ACCOUNT_INACTIVE,
    errors.ACCOUNT_UNVERIFIED,
    errors.ALREADY_IN_USE,
    FORBIDDEN,
)


def routes(batches: Batches) -> Routes:
    """Return the routes."""
    office, one = Routes(body_bytes=_BODY_BYTES), "/batches/{batch_id}"
    office.get("/batches", "batches", batches.page, takes={"wanted": BATCHES})
    office.post(
        "/accounts/{account_id}/batches",
        "batch_upload",
        batches.upload,
        takes={"file": body(BatchFile, as_sent=frozenset({"content"}))},
        fails=PAYOUT_FAILS,
        raises=(NOT_POSSIBLE, *_PAYING),
    )
    office.get(one, "batch", batches.get, raises=ABSENT)
    office.get(f"{one}/rows", "batch_rows", batches.rows, takes={"wanted": ROWS}, raises=ABSENT)
    office.get(f"{one}/problems", "batch_problems", batches.problems, raises=ABSENT)
    office.post(
        f"{one}/order",
        "batch_order",
        batches.order,
        fails=PAYOUT_FAILS,
        raises=(*CHANGED, *_PAYING),
        status=OK,
        priority=Priority.PAYOUTS,
    )
    changes: Shape = {
        "raises": (*CHANGED, FORBIDDEN),
        "status": OK,
        "priority": Priority.PAYOUTS,
    }
    office.post(f"{one}/stop", "batch_stop", batches.stop, **changes)
    office.post(f"{one}/resume", "batch_resume", batches.resume, **changes)
    office.get(
        f"{one}/result",
        "batch_result",
        batches.result,
        shows=table("payouts.csv"),
        media=(CSV,),
        raises=ABSENT,
        priority=Priority.HEAVY,
    )
    return office
