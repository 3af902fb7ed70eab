"""The rows of stops."""

from __future__ import annotations

import pytest

from gateway.domain.payouts.stops import StopScope
from gateway.http.backoffice.administration.credentials import CredentialBody
from gateway.http.backoffice.decisions.stops import StopBody, lift, list_stops, stop_payouts
from tests.unit.gateway.http.backoffice.registers import FIRST, AdminWorld, turned_down
from tests.unit.gateway.http.backoffice.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("stops", ("GET", "/stops", "stop:read", 200)),
        ("stop_pull", ("POST", "/stops", "stop:write", 201)),
        ("stop_lift", ("DELETE", "/stops/{stop_id}", "stop:write", 204)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


async def subjects(admin_world: AdminWorld, *, ours: bool) -> dict[StopScope, str]:
    """Name something of each scope within a company."""
    company, account = (
        (admin_world.ours, admin_world.account)
        if ours
        else (admin_world.theirs, admin_world.foreign)
    )
    order = CredentialBody(name="n", company_id=company.id)
    issued = await admin_world.credentials.issue(admin_world.staff(), order)
    return {
        StopScope.COMPANY: company.id,
        StopScope.ACCOUNT: account.id,
        StopScope.CREDENTIAL: issued.credential.client_id,
    }


@pytest.mark.parametrize("scope", [each for each in StopScope if each is not StopScope.PROVIDER])
async def test_who_is_limited_stops_what_is_theirs(admin_world: AdminWorld, scope: StopScope):
    limited, listed = admin_world.staff(admin_world.ours.id), admin_world.does(list_stops)
    pull, lifted = admin_world.does(stop_payouts), admin_world.does(lift)
    mine = StopBody(
        scope=scope, subject=(await subjects(admin_world, ours=True))[scope], reason="r"
    )
    other = StopBody(
        scope=scope, subject=(await subjects(admin_world, ours=False))[scope], reason="r"
    )

    pulled = await pull(limited, mine)
    foreign = await pull(admin_world.staff(), other)

    assert (await listed(limited, FIRST)).items == [pulled]
    assert await turned_down(pull(limited, other)) == "400 VALIDATION_FAILED"
    assert await turned_down(lifted(limited, foreign.id)) == "404 NOT_FOUND"
    await lifted(limited, pulled.id)
    assert (await listed(limited, FIRST)).items == []


async def test_a_providers_stop_is_everybodys_to_see_and_not_to_pull(admin_world: AdminWorld):
    limited, listed = admin_world.staff(admin_world.ours.id), admin_world.does(list_stops)
    pull, lifted = admin_world.does(stop_payouts), admin_world.does(lift)
    order = StopBody(scope=StopScope.PROVIDER, subject="sandbox", reason="r", minutes=5)

    pulled = await pull(admin_world.staff(), order)

    assert (await listed(limited, FIRST)).items == [pulled]
    assert (pulled.ends_at - pulled.created_at).total_seconds() == 300
    assert await turned_down(pull(limited, order)) == "400 VALIDATION_FAILED"
    assert await turned_down(lifted(limited, pulled.id)) == "404 NOT_FOUND"
