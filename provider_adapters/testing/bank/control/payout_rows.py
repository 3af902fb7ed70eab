"""The rows of the control interface about one payout, by its idempotency key or the bank's id."""

from __future__ import annotations

from provider_adapters.testing.bank.control.api import ControlRequest, ControlRow, listing
from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import holds, payouts, returns
from provider_adapters.testing.bank.pix.payouts import Payout


async def _hold(request: ControlRequest) -> Answer:
    held = _payout(request)
    holds.hold(request.books, held.seq, request.body.whole("seconds", holds.LONGEST_S))
    return _shown(request, held)


async def _release(request: ControlRequest) -> Answer:
    held = _payout(request)
    holds.release(request.books, held.seq, refuse=request.body.flag("refuse"))
    return _shown(request, held)


async def _return(request: ControlRequest) -> Answer:
    settled, body = _payout(request), request.body
    returns.order_back(request.books, settled, body.reais("value") if "value" in body else None)
    return _shown(request, settled)


async def _returns(request: ControlRequest) -> Answer:
    found = returns.listed(request.books, request.query.get("key"))
    return listing(
        [
            {"key": key, "id": each.id, "centavos": each.centavos, "at": show(each.at)}
            for key, each in found
        ]
    )


async def _hold_next(request: ControlRequest) -> Answer:
    account_id = accounts.get(request.books, request.path["id"]).id
    seconds = request.body.whole("seconds", holds.LONGEST_S)
    holds.hold_next(request.books, account_id, seconds)
    return Answer(document={"id": account_id, "seconds": seconds})


def _payout(request: ControlRequest) -> Payout:
    return payouts.anywhere(request.books, request.path["key"])


def _shown(request: ControlRequest, changed: Payout) -> Answer:
    """Show a payout as its customer would see it now."""
    found = payouts.get(request.books, changed.account_id, changed.id)
    return Answer(document=request.controls.dialect.payout(found))


_PAYOUT = "/payouts/{key:[^/]+}"

ROWS = (
    ControlRow("POST", f"{_PAYOUT}/hold", _hold),
    ControlRow("POST", f"{_PAYOUT}/release", _release),
    ControlRow("POST", f"{_PAYOUT}/return", _return),
    ControlRow("GET", "/returns", _returns),
    ControlRow("POST", "/accounts/{id:[^/]+}/hold", _hold_next),
)
"""The rows about one payout."""
