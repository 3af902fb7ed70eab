"""The partner's surface: questions in order, and routes against the contract's table."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import BadReply, NotFound, NotSupported, Unavailable, Unreachable
from gateway.core import errors
from gateway.core.calls import Call
from gateway.core.catalogue import ErrorCode
from gateway.core.storage import StoreUnavailable
from gateway.http.gates import PARTNER_CHALLENGE, admit_partner
from gateway.http.route import code_of
from gateway.http.routing import BODY_BYTES
from tests.world.people import account, call, principal
from tests.world.surfaces import usual_surfaces

SURFACE = usual_surfaces()[0]
ROUTES = [route for route in SURFACE.gates[0].routes]  # noqa: C416 - typed
BY_NAME = {route.name: route for route in ROUTES}

CONTRACT = [
    ("GET", "/balance", "balance:read", "read"),
    ("GET", "/pix/keys", "pix_key:read", "read"),
    ("GET", "/pix/keys/{key_id}", "pix_key:read", "read"),
    ("GET", "/pix/qrcode/{reference}", "qrcode:read", "read"),
    ("GET", "/pix/transactions/{reference}", "transaction:read", "read"),
    ("GET", "/transactions", "transaction:read", "read"),
    ("POST", "/withdraw", "withdraw:write", "payout"),
    ("GET", "/withdraw/{reference}", "withdraw:read", "read"),
    ("GET", "/withdraws", "withdraw:read", "read"),
    ("DELETE", "/withdraw/{reference}", "withdraw:write", "payout"),
]


def test_the_routes_are_the_contract_s():
    """Contract 4.1."""
    found = [
        (
            route.method,
            route.path.removeprefix("/account/{account_id}"),
            str(route.needs),
            route.limits.quota,
        )
        for route in ROUTES
    ]

    assert sorted(found) == sorted(CONTRACT)


@pytest.mark.parametrize(
    ("name", "failed", "absent"),
    [
        ("banking.balance", errors.BALANCE_UNAVAILABLE, None),
        ("banking.pix_keys", errors.PIX_KEYS_UNAVAILABLE, None),
        ("banking.pix_key", errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND),
        ("banking.qrcode", errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND),
        ("banking.pix_transaction", errors.TRANSACTION_UNAVAILABLE, errors.TRANSACTION_NOT_FOUND),
        ("banking.statement", errors.STATEMENT_UNAVAILABLE, None),
    ],
)
def test_a_failing_provider_gives_the_route_s_code(
    name: str, failed: ErrorCode, absent: ErrorCode | None
):
    """Contract 4.1; an unsupported operation counts as not configured."""
    route = BY_NAME[name]

    for problem in (Unavailable("a"), Unreachable("a"), BadReply("a")):
        assert code_of(problem, route.fails) is failed
    assert code_of(NotFound("a"), route.fails) is (absent or failed)
    assert code_of(NotSupported("a"), route.fails) is errors.PROVIDER_NOT_CONFIGURED


@pytest.mark.parametrize(
    "name",
    ["banking.payout_create", "banking.payout", "banking.payouts", "banking.payout_cancel"],
)
def test_a_store_failure_is_an_internal_error(name: str):
    assert code_of(StoreUnavailable("a"), BY_NAME[name].fails) is errors.INTERNAL


def test_only_the_payout_route_reads_a_body():
    """64 KiB."""
    assert {route.name: route.limits.body_bytes for route in ROUTES if route.limits.body_bytes} == {
        "banking.payout_create": BODY_BYTES
    }
    assert BODY_BYTES == 65_536


def test_only_the_two_lists_take_windows_and_pages():
    taking = {route.name for route in ROUTES if route.takes.parameters}

    assert taking == {"banking.statement", "banking.payouts"}


def test_policies_of_partner_routes_are_in_the_decided_order():
    """A caller that may not be identified must not learn what exists."""
    partner, everybody = SURFACE.gates

    assert [type(policy).__name__ for policy in partner.policies] == [
        "NotBlocked",
        "BasicCredentials",
        "WithinQuota",
        "FromAllowedCaller",
        "RequiresPermission",
        "Identifiers",
        "AccountScope",
        "AccountState",
    ]
    assert everybody.policies == ()


def test_the_public_gate_has_three_routes():
    _, everybody = SURFACE.gates

    assert [route.name for route in everybody.routes] == [
        "banking.info", "banking.health", "banking.error_codes",
    ]  # fmt: skip


def test_prefix_body_size_and_challenge_follow_the_decisions():
    assert (SURFACE.prefix, SURFACE.body_bytes) == ("/baas/v1", 65_536)
    assert SURFACE.challenge == PARTNER_CHALLENGE == 'Basic realm="baas", charset="UTF-8"'


def test_a_partner_is_admitted_with_principal_and_account():
    admitted = admit_partner(call(principal=principal(), account=account()))

    assert (admitted.principal, admitted.account) == (principal(), account())


@pytest.mark.parametrize("half", [{"principal": principal()}, {"account": account()}, {}])
def test_an_incomplete_admission_of_a_partner_is_an_error(half: dict[str, object]):
    """A forgotten policy is an error, not an open door."""
    made: Call = call(**half)

    with pytest.raises(RuntimeError, match="policy"):
        admit_partner(made)
