"""Pages of endpoints: added, changed and collected by two people; a secret is in one answer."""

from __future__ import annotations

import re

import pytest

from gateway.endpoints.model import Endpoint, EndpointSecret, NewEndpoint
from gateway.endpoints.service import Endpoints
from gateway.events.model import EventType
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]{40,}")
HOST = "events.loja.example"
URL = f"https://{HOST}/pix"
LIST = "/panel/endpoints"


def company(world: World, name: str = "main") -> str:
    return str(world.demo["companies"][name]["id"])


async def added(world: World, **more: object) -> Endpoint:
    """Add one by the command line."""
    wanted = NewEndpoint(company_id=company(world, "other"), url=URL, **more)  # type: ignore[arg-type]
    made = await world.office.service(Endpoints).add(world.office.staff, wanted)
    assert isinstance(made, EndpointSecret)
    return made.endpoint


async def found(world: World, endpoint: Endpoint) -> Endpoint | None:
    return await world.gateway.services.endpoint_records.find(endpoint.id)


async def test_two_people_add_an_endpoint_and_its_secret_is_shown_in_one_uncached_answer(
    keeper: Person, approver: Person, world: World
):
    new, account = f"{LIST}/new?company_id={company(world)}", world.demo["accounts"]["main"]["id"]
    asked = await keeper.open(new)
    fields = {
        "company_id": company(world),
        "url": URL,
        "types": "payout.paid",
        "account_ids": account,
    }

    ordered = await keeper.send(f"{LIST}/new", fields)
    order = await approver.open(ordered.location)
    await approver.send(f"{ordered.location}/approve")
    await keeper.open(ordered.location)
    shown = await keeper.send(f"{ordered.location}/endpoint-secret")

    assert "A empresa não tem contato" in asked.text
    assert account in asked.text
    assert (ordered.status, ordered.location.startswith("/panel/approvals/")) == (303, True)
    assert "Novo endpoint" in order.text
    assert URL in order.text
    assert "payout.paid" in order.text
    secret = SECRET.search(shown.text)[0]
    assert shown.headers["Cache-Control"] == "no-store"
    assert "Content-Encoding" not in shown.headers
    page = re.search(r"/panel/endpoints/[0-9a-f-]{36}", shown.text)[0]
    for path in (LIST, page, ordered.location):
        assert secret not in (await keeper.open(path)).text
    again = await keeper.send(f"{ordered.location}/endpoint-secret")
    assert again.status == 404


async def test_a_refused_form_keeps_what_was_typed(keeper: Person, world: World):
    await keeper.open(f"{LIST}/new?company_id={company(world)}")

    refused = await keeper.send(
        f"{LIST}/new",
        {"company_id": company(world), "url": "https://10.0.0.1/", "types": "payout.paid"},
    )

    assert refused.status == 400
    assert "Endereço deve ser um endereço https" in refused.text
    assert 'value="https://10.0.0.1/"' in refused.text
    assert re.search(r'value="payout.paid" checked', refused.text)


async def test_the_company_is_chosen_first(keeper: Person, world: World):
    chosen = await keeper.open(f"{LIST}/new")

    assert f"{LIST}/new?company_id={company(world)}" in chosen.text
    assert 'name="url"' not in chosen.text


async def test_a_change_shows_what_it_replaces(keeper: Person, approver: Person, world: World):
    endpoint = await added(world, types=(EventType.PIX_RECEIVED,))
    page = f"{LIST}/{endpoint.id}"
    await keeper.open(page)

    ordered = await keeper.send(f"{page}/change", {"url": f"{URL}/2"})
    order = await approver.open(ordered.location)
    await approver.send(f"{ordered.location}/approve")

    assert "Endereço até agora" in order.text
    assert "pix.received" in order.text
    assert "todos os tipos de eventos" in order.text
    changed = await found(world, endpoint)
    assert changed is not None
    assert (changed.url, changed.types) == (f"{URL}/2", ())


async def test_an_endpoint_is_paused_resumed_and_removed(keeper: Person, world: World):
    endpoint = await added(world)
    page = f"{LIST}/{endpoint.id}"
    pending = await keeper.open(page)

    await keeper.send(f"{page}/pause")
    paused = await keeper.open(page)
    await keeper.send(f"{page}/resume")
    resumed = await keeper.open(page)
    mistyped = await keeper.send(f"{page}/remove", {"words": "something else"})
    removed = await keeper.send(f"{page}/remove", {"words": HOST})

    assert "Ainda não respondeu a um ping" in pending.text
    assert "Alguém daqui o pausou." in paused.text
    assert "Ainda não respondeu a um ping" in resumed.text
    assert mistyped.status == 400
    assert (removed.status, removed.location) == (303, LIST)
    assert await found(world, endpoint) is None
    assert (await keeper.open(page)).status == 404


async def test_a_new_secret_waits_for_a_second_person(keeper: Person, world: World):
    page = f"{LIST}/{(await added(world)).id}"
    await keeper.open(page)

    ordered = await keeper.send(f"{page}/rotate", {"ends": "now"})

    order = await keeper.open(ordered.location)
    assert ordered.location.startswith("/panel/approvals/")
    assert "nenhum tempo: termina agora" in order.text


async def test_users_who_may_not_change_endpoints_can_read_them(operator: Person, world: World):
    endpoint = await added(world)

    listed, page = await operator.open(LIST), await operator.open(f"{LIST}/{endpoint.id}")
    paused = await operator.send(f"{LIST}/{endpoint.id}/pause")

    assert URL in listed.text
    assert 'name="url"' not in page.text
    assert paused.status == 403


async def test_the_contact_of_a_company_is_set_on_its_page(admin: Person, world: World):
    page = f"/panel/companies/{company(world, 'other')}"
    before = await admin.open(page)

    wrong = await admin.send(f"{page}/contact", {"contact": "nobody"})
    right = await admin.send(f"{page}/contact", {"contact": "TI@Outra.example"})

    assert 'name="contact"' in before.text
    assert (wrong.status, "E-mail deve ser um endereço de e-mail" in wrong.text) == (400, True)
    assert (right.status, right.location) == (303, page)
    assert 'value="ti@outra.example"' in (await admin.open(page)).text
