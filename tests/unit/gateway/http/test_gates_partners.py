"""The partner's surface: which questions are asked, and in which order."""

from __future__ import annotations

import pytest

from gateway.core.calls import Call
from gateway.http.gates import PARTNER_CHALLENGE, admit_partner
from tests.world.people import account, call, principal
from tests.world.surfaces import usual_surfaces

SURFACE = usual_surfaces()[0]


def test_questions_are_asked_in_the_order_decided():
    """Who may not be known must not be learnt by asking for what is."""
    partner, everybody = SURFACE.gates

    assert [type(policy).__name__ for policy in partner.policies] == [
        "NotBlocked",
        "BasicCredentials",
        "WithinQuota",
        "RequiresPermission",
        "Identifiers",
        "AccountScope",
        "AccountState",
    ]
    assert everybody.policies == ()


def test_the_open_gate_has_three_rows():
    _, everybody = SURFACE.gates

    assert [row.name for row in everybody.rows] == [
        "banking.info", "banking.health", "banking.error_codes",
    ]  # fmt: skip


def test_the_surface_is_what_was_decided():
    assert (SURFACE.prefix, SURFACE.body_bytes) == ("/baas/v1", 65_536)
    assert SURFACE.challenge == PARTNER_CHALLENGE == 'Basic realm="baas", charset="UTF-8"'
    assert SURFACE.exempt == {"banking.health"}


def test_a_partner_is_let_in_whole():
    admitted = admit_partner(call(principal=principal(), account=account()))

    assert (admitted.principal, admitted.account) == (principal(), account())


@pytest.mark.parametrize("half", [{"principal": principal()}, {"account": account()}, {}])
def test_nobody_is_let_in_by_half(half: dict[str, object]):
    """A policy that was forgotten is a mistake, not an open door."""
    made: Call = call(**half)

    with pytest.raises(RuntimeError, match="policy"):
        admit_partner(made)
