"""Signed days on the surface of events, an extension of the partners' interface."""

from __future__ import annotations

from gateway.banks.failures import PARTNER_STORE_FAILS
from gateway.closings.documents import closing
from gateway.closings.signed import SignedClosings
from gateway.core import errors
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.http.routing import Routes
from policies.validation.inputs import DAY


def partner_routes(closings: SignedClosings) -> Routes:
    """Return the routes of partners."""
    partner = Routes("events", quota="read", priority=Priority.PARTNERS, fails=PARTNER_STORE_FAILS)
    partner.get(
        "/account/{account_id}/closings/{day}",
        "closing",
        closings.read,
        takes={"day": DAY},
        shows=closing,
        needs=Permission(Resource.TRANSACTION, Action.READ),
        raises=(errors.CLOSING_NOT_FOUND,),
    )
    return partner
