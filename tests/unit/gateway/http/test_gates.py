"""The back office's gates: which questions are asked, and in which order."""

from __future__ import annotations

import pytest

from gateway.core.errors import ServiceError
from policies.authorization.user import FreshFactor
from tests.unit.gateway.http.surface import ROUTES, SURFACE, gate_of
from tests.world.people import posted

PERSON = [
    *("BearerToken", "WithinPersonQuota"),
    *("RequiresRight", "RequiresSecondFactor", "DecidesCompanyScope"),
    *("FreshFactor", "Identifiers", "KnownParameters"),
]


@pytest.mark.parametrize(
    ("name", "policies"),
    [
        ("accounts", PERSON),
        *((name, PERSON) for name in ("credentials", "user_roles", "audit", "stop_create")),
        *((name, PERSON) for name in ("stop_lift", "webhooks")),
        ("account", [*PERSON, "VisibleAccount"]),
        ("balance", [*PERSON, "VisibleAccount"]),
        ("withdraw_pix", [*PERSON, "VisibleAccount", "AccountState"]),
        ("health", []),
    ],
)
def test_policies_of_each_gate_are_in_the_decided_order(name: str, policies: list[str]):
    """A caller without access must not learn what exists."""
    assert gate_of(name) == policies


def test_lifting_a_stop_always_requires_a_fresh_factor():
    """Its right requires none, because setting a stop, with the same right, must be quick."""
    (gate,) = (gate for gate in SURFACE.gates if ROUTES["backoffice.stop_lift"] in gate.routes)

    (asks,) = (policy for policy in gate.policies if isinstance(policy, FreshFactor))

    assert asks.always


def test_every_filter_body_refuses_unknown_fields():
    """A misspelt filter would match everything, in searches and files."""
    reasons = {}
    for name, route in ROUTES.items():
        if route.method == "POST" and route.path.endswith(("/search", "/export")):
            with pytest.raises(ServiceError) as refusal:
                route.takes.read(posted({"statuss": "paid"}))
            reasons[name] = (refusal.value.error.status, refusal.value.reason, refusal.value.field)

    assert reasons == dict.fromkeys(
        (
            *("backoffice.search", "backoffice.payouts", "backoffice.payouts_export"),
            *("backoffice.pix_transactions", "backoffice.pix_refunds", "backoffice.withdraws"),
        ),
        (400, "unknown_field", "statuss"),
    )
