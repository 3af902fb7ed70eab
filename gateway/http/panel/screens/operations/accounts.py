"""What pages of nouns without a package read of accounts."""

from __future__ import annotations

from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.visit import Visit

READ: Final = Right(Area.ACCOUNT, Action.READ)
ACCOUNT: Final = "/accounts/{account_id}"


def account_path(visit: Visit) -> dict[str, str]:
    """Return the path parameter of every row of an account."""
    return {"account_id": visit.parameter("account_id")}


async def account_of(rows: RowCalls, visit: Visit) -> dict[str, Any]:
    """Read the account that the path names; raises what the row refuses with."""
    found: dict[str, Any] = (
        await rows.ask(visit, "backoffice.account", path=account_path(visit))
    ).data
    return found


def account_rights(visit: Visit) -> dict[str, bool]:
    """Say what the person may do at an account, for what is left out of a page."""
    return {
        "may_keys": visit.may(Right(Area.PIX_KEY, Action.READ)),
        "may_charges": visit.may(Right(Area.QRCODE, Action.READ)),
        "may_received": visit.may(Right(Area.TRANSACTION, Action.READ)),
        "may_payouts": visit.may(Right(Area.PAYOUT, Action.READ)),
        "may_stop": visit.may(Right(Area.STOP, Action.WRITE)),
        "may_charge": visit.may(Right(Area.QRCODE, Action.WRITE)),
    }


async def every_account(rows: RowCalls, visit: Visit) -> list[dict[str, Any]]:
    """Return the accounts to choose from, at most a hundred; none where they cannot be read."""
    said = await rows.section(visit, "backoffice.accounts", limit="100")
    return [] if said.problem else list(said.data["data"])
