"""Acts that ask for a fresh code, and a stop, which does not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.core.rights import Role
from tests.surfaces.panel.pages.accounts import at, made
from tests.surfaces.panel.pages.person import Person, Seen, age_factors, signed_in
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


def asks(seen: Seen) -> bool:
    """Return whether a form is shown again with a field for the code."""
    return (seen.status, 'name="code"' in seen.text) == (403, True)


async def test_changing_companies_or_others_sessions_requires_a_code_and_stopping_does_not(
    world: World, viewer: Person
):
    admin = await signed_in(world, Role.ADMIN)
    user = await world.gateway.services.identity.users.find("viewer@panel.example")
    sessions = f"/panel/people/{user.id}/sessions"
    await age_factors(world, timedelta(hours=1))

    await admin.open("/panel/companies")
    company = await admin.send("/panel/companies", {"name": "Nova Ltda"})
    ended = await admin.send(sessions)
    await admin.open("/panel/stops/new")
    stopped = await admin.send(
        "/panel/stops/new",
        {
            "subject": f"company:{world.demo['companies']['other']['id']}",
            "reason": "ensaio",
            "minutes": "60",
            "words": "bloquear",
        },
    )

    assert asks(company)
    assert asks(ended)
    assert (await viewer.open("/panel/accounts")).status == 200
    assert stopped.status == 303
    await admin.open("/panel/companies")
    given = {"name": "Nova Ltda", "code": admin.recovery.pop()}
    assert (await admin.send("/panel/companies", given)).status == 303
    await admin.open("/panel/companies")  # the code gave another token
    assert (await admin.send(sessions)).status == 303
    assert (await viewer.open("/panel/accounts")).status == 303


async def test_cancelling_a_charge_requires_a_code_and_creating_one_does_not(world: World):
    operator = await signed_in(world, Role.OPERATOR, fresh=False)
    reference = await made(operator, world)
    path = at(world, f"/charges/{reference}")
    await operator.open(f"{path}?read=1")

    cancelled = await operator.send(path, {"words": reference})

    assert asks(cancelled)
    given = {"words": reference, "code": operator.recovery.pop()}
    assert (await operator.send(path, given)).status == 303
