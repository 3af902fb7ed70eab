"""Pages of people: invited, given roles, disabled, signed out, their factor reset."""

from __future__ import annotations

import re
from html import unescape
from uuid import uuid4

import pytest
import pytest_asyncio

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.surfaces.panel.pages.person import Person
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.world import World
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")


NOVA = {"name": "Nova", "company": "every"}


@pytest_asyncio.fixture(loop_scope="module")
async def other(world: World) -> tuple[str, str]:
    """Another user: their page and their address."""
    email = f"outro-{uuid4().hex[:8]}@panel.example"
    order = InvitationBody(email=email, name="Outro <b>", roles=[Role.VIEWER, Role.OPERATOR])
    made = await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
    return f"/panel/people/{made.id}", email


async def test_an_invitation_of_a_viewer_needs_no_approval(admin: Person):
    await admin.open("/panel/people")
    email = f"nova-{uuid4().hex[:8]}@panel.example"

    seen = await admin.send("/panel/people", {**NOVA, "email": email, "role": "viewer"})

    assert (seen.status, seen.location) == (303, "/panel/people")


async def test_an_invitation_of_a_user_with_write_rights_needs_approval(admin: Person):
    await admin.open("/panel/people")
    email = f"nova-{uuid4().hex[:8]}@panel.example"

    seen = await admin.send("/panel/people", {**NOVA, "email": email, "role": "operator"})

    assert seen.status == 303
    assert seen.location.startswith("/panel/approvals/")


async def test_choosing_every_company_must_be_explicit(
    admin: Person, world: World, other: tuple[str, str]
):
    """Unticked boxes do not give access to every company."""
    path, mail = other[0], f"nova-{uuid4().hex[:8]}@panel.example"
    invited = {"email": mail, "name": "Nova", "role": "operator"}
    mine = world.demo["companies"]["main"]["id"]
    await admin.open("/panel/people")

    forgot = await admin.send("/panel/people", invited)
    edited = await admin.send(f"{path}/companies", {})
    one = await admin.send(f"{path}/companies", {"company": mine})

    assert [each.status for each in (forgot, edited)] == [400, 400]
    assert all("ou escolha todas as empresas" in each.text for each in (forgot, edited))
    assert (one.status, one.location) == (303, path)
    assert f'value="{mine}" checked' in (await admin.open(path)).text


async def test_rights_of_roles_are_in_the_page_s_language(admin: Person):
    seen = (await admin.open("/panel/people")).text

    assert "Consulta dinheiro, contas e empresas; não altera nada." in seen
    assert ":write" not in seen


async def test_a_user_is_renamed(admin: Person, other: tuple[str, str]):
    path, _ = other
    found = re.search(r'name="version" value="([^"]+)"', (await admin.open(path)).text)
    version = unescape(found[1])

    refused = await admin.send(f"{path}/name", {"name": "", "version": version})
    renamed = await admin.send(f"{path}/name", {"name": "Ana Prado", "version": version})

    assert (refused.status, renamed.status, renamed.location) == (400, 303, path)
    assert "<h1>Ana Prado</h1>" in (await admin.open(path)).text


async def test_a_user_is_disabled_with_a_reason_and_enabled_again(
    admin: Person, other: tuple[str, str]
):
    path, email = other
    form = await admin.open(path)

    without = await admin.send(f"{path}/disable", {"reason": " "})
    done = await admin.send(f"{path}/disable", {"reason": "saiu"})
    shown = await admin.open(path)
    again = await admin.send(f"{path}/enable")

    assert f"<bdi>{email}</bdi> sai de todas as sessões" in form.text
    assert "Desativar <bdi>Outro &lt;b&gt;</bdi>" in form.text
    assert [each.status for each in (without, done, again)] == [400, 303, 303]
    assert "desativada" in shown.text


async def test_a_second_factor_is_reset_by_the_typed_address_alone(
    admin: Person, other: tuple[str, str]
):
    path, _ = other
    await admin.open(path)

    unsure = await admin.send(f"{path}/reset-factor", {"words": "alguém"})

    assert unsure.status == 400
    assert "deve ser exatamente o texto" in unsure.text


async def test_a_change_of_a_user_changed_meanwhile_is_refused(
    admin: Person, other: tuple[str, str]
):
    """The change must be based on the state that the user saw."""
    path, _ = other
    version = re.search(r'name="version" value="([^"]+)"', (await admin.open(path)).text)[1]
    await admin.send(f"{path}/roles", {"role": "viewer"})

    seen = {"reason": "saiu", "version": version.replace("&#34;", '"')}

    late = await admin.send(f"{path}/disable", seen)

    assert late.status == 412
