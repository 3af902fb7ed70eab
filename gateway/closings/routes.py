"""Signed days on the surface of events, and packages of locked days in the back office."""

from __future__ import annotations

from gateway.banks.failures import PARTNER_STORE_FAILS, bank_fails
from gateway.closings.documents import closing
from gateway.closings.packages import ZIP, ClosingPackage, ClosingPackages
from gateway.closings.searches import PACKAGE
from gateway.closings.signed import SignedClosings
from gateway.core import errors
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.http.route import Answer
from gateway.http.routing import READS, Routes, kept
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


def routes(packages: ClosingPackages) -> Routes:
    """Return the routes."""
    office = Routes(fails=bank_fails(errors.STATEMENT_UNAVAILABLE), priority=Priority.HEAVY)
    office.get(
        "/closings/package",
        "closing_package",
        packages.make,
        takes={"wanted": PACKAGE},
        shows=package,
        raises=(*READS, NOT_POSSIBLE),
        media=(ZIP,),
    )
    return office


def package(found: ClosingPackage, _who: object) -> Answer[bytes]:
    """Show a package as a file to be kept."""
    return Answer(content=found.content, content_type=ZIP, headers=kept(found.file_name))
