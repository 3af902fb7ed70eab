"""The class that each route has under overload."""

from __future__ import annotations

from gateway.core.priority import Priority
from gateway.http.route import Route
from tests.world.surfaces import usual_surfaces

SURFACES = usual_surfaces()
ROUTES: dict[str, Route[object]] = {
    route.name: route for each in SURFACES for gate in each.gates for route in gate.routes
}


def of(*priorities: Priority) -> set[str]:
    return {name for name, route in ROUTES.items() if route.priority in priorities}


def test_routes_that_are_never_shed():
    assert of(Priority.ALWAYS) == {
        *("banking.health", "identity.health", "backoffice.health"),
        *("identity.logout", "panel.logout", "panel_pages.sign_out"),
    }


def test_payouts_and_stops_are_shed_last():
    assert of(Priority.PAYOUTS) == {
        *("banking.payout_create", "banking.payout", "banking.payouts", "banking.payout_cancel"),
        *("backoffice.withdraw_bank", "backoffice.withdraw_pix", "panel_pages.payout_order"),
        *("backoffice.approval_approve", "panel_pages.approval_approve"),
        *(f"backoffice.batch_{each}" for each in ("order", "stop", "resume")),
        *(f"panel_pages.batch_{each}" for each in ("order", "stop", "resume")),
    }
    stops = {name for name in ROUTES if ".stop" in name}
    assert of(Priority.STOPS) == stops
    assert len(stops) == 9


def test_partner_and_callback_routes_have_the_partner_class():
    surfaces = ("banking.", "events.", "sandbox.", "callbacks.")
    partners = {name for name in ROUTES if name.startswith(surfaces)}
    opened = {"banking.health", "banking.info", "banking.error_codes", "sandbox.credentials"}

    assert of(Priority.PARTNERS) == partners - opened - of(Priority.PAYOUTS)


def test_searches_exports_and_closings_are_heavy():
    """The bank is read for a closing; a signed one is a row that partners read."""
    heavy = {name for name in ROUTES if any(word in name for word in ("export", ".closing"))}
    heavy.remove("events.closing")

    assert of(Priority.HEAVY) == heavy | {
        *("backoffice.search", "panel_pages.search", "panel_pages.search_find"),
        *("backoffice.report", "backoffice.audit_verify", "panel_pages.audit_proof"),
        *("panel_pages.foreign_debit_explain", "backoffice.batch_result"),
        "panel_pages.batch_result",
    }


def test_routes_without_a_credential_are_in_the_class_of_strangers():
    """Except health, signing out, second factors, and bank callbacks at a secret address."""
    opened = {
        route.name
        for each in SURFACES
        for gate in each.gates
        for route in gate.routes
        if gate.opens and route.limits.quota != "person"
    }

    assert opened - of(Priority.STRANGERS, Priority.ALWAYS) == {
        *("identity.step_up", "panel.step_up"),
        *("identity.step_up_passkey", "panel.step_up_passkey"),
        *("identity.passkey_options", "panel.passkey_options"),
        *(name for name in ROUTES if name.startswith("callbacks.")),
    }
    assert of(Priority.STRANGERS) <= opened
