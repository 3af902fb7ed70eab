"""The pages of requests, traces and explanations."""

from __future__ import annotations

import json
import re
import uuid

import pytest
import pytest_asyncio

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.request_log.model import LoggedRequest
from gateway.request_log.store import RequestRecords
from tests.surfaces.panel.pages.person import Person, Seen, signed_in
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.world import World
from tests.world.people import CLI
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operator(world: World) -> Person:
    person = Person(world)
    await person.sign_in("operator@panel.example")
    return person


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stranger(world: World) -> Person:
    """A user who sees only the other company."""
    other = frozenset({world.demo["companies"]["other"]["id"]})
    order = InvitationBody(
        email="other@panel.example", name="Other", roles=[Role.OPERATOR], companies=list(other)
    )
    await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
    person = Person(world)
    await person.sign_in("other@panel.example")
    return person


async def refused(world: World) -> str:
    """Have a call refused for its account; return its trace id, which can be looked up at once."""
    trace = f"t-{uuid.uuid4()}"
    await world.ask("GET", world.at("/balance", "sister"), headers={"X-Trace-ID": trace})
    return trace


async def test_a_refusal_is_reported_with_its_rule_and_its_remedy(world: World, operator: Person):
    trace = await refused(world)

    portuguese = await operator.open(f"/panel/trace/{trace}")
    search = await operator.open("/panel/explain")
    found = await operator.open(f"/panel/explain?trace={trace}")
    capsule = await operator.open(f"/panel/trace/{trace}/capsule")

    assert "A credencial vale só para outra conta." in portuguese.text
    assert "As duas são da mesma empresa, por isso a resposta é 403 e não 404." in portuguese.text
    assert 'class="no"' in portuguese.text
    counted = re.findall(r'<li class="\w*"><span>(\d+)</span>', portuguese.text)
    assert list(map(int, counted)) == list(range(1, 19))
    assert "parou na 13ª de 18" in portuguese.text
    assert 'name="trace"' in search.text
    assert (found.status, found.location) == (303, f"/panel/trace/{trace}")
    assert json.loads(capsule.text)["explained"]["explanation"]["step"] == 13
    assert "attachment" in capsule.headers["Content-Disposition"]


async def test_requests_are_filtered_by_the_address_and_exported(world: World, operator: Person):
    await refused(world)

    async def logged() -> Seen | None:
        found = await operator.open("/panel/requests")
        return found if "banking.balance" in found.text else None

    everything = await until(logged)
    some = await operator.open("/panel/requests?reason=scope&status_class=4")
    none = await operator.open("/panel/requests?reason=nothing")
    part = await operator.open("/panel/requests?reason=scope", **{"HX-Request-Type": "partial"})
    wrong = await operator.open("/panel/requests?status_class=9")
    file = await operator.open("/panel/requests/export?reason=scope")

    assert everything.status == 200
    assert "scope" in some.text
    assert "Nenhuma requisição encontrada" in none.text
    assert part.text.lstrip().startswith('<div id="list">')
    assert wrong.status == 200
    assert 'role="alert"' in wrong.text
    assert file.text.startswith("\ufeffData e hora")
    assert len(file.text.splitlines()) > 1


async def test_page_reads_are_listed_only_when_requested(world: World, operator: Person):
    """Otherwise the panel's own refreshing would fill the list."""
    log = RequestRecords(world.gateway.kernel.store.database)
    page = LoggedRequest(
        at=world.gateway.kernel.now(),
        trace_id=uuid.uuid4().hex,
        surface="panel_pages",
        route="panel_pages.overview_latest",
        status=200,
        code="",
        client_id="",
        user_id="u",
        company_id="",
        line="{}",
        method="GET",
    )
    await log.add([page])

    plain = await operator.open("/panel/requests")
    asked = [await operator.open(f"/panel/requests?{q}") for q in ("pages=yes", "user_id=u")]

    assert page.trace_id not in plain.text
    assert [page.trace_id in each.text for each in asked] == [True, True]


async def test_a_refused_trace_is_found_by_the_search_field(
    world: World, operator: Person, stranger: Person
):
    """It has no payout; a user without access to it finds nothing."""
    trace = await refused(world)
    for person in (operator, stranger):
        await person.open("/panel/search")

    found = await operator.open((await operator.send("/panel/search", {"q": trace})).location)
    hidden = await stranger.open((await stranger.send("/panel/search", {"q": trace})).location)

    assert (found.status, found.location) == (303, f"/panel/trace/{trace}")
    assert hidden.status == 200


async def test_requests_show_paths_reasons_and_names_in_words(world: World):
    """A reader of the log may lack the right to read the list of users."""
    author = await signed_in(world, Role.OPERATOR, name="Rita Prado")
    await author.open("/panel/stops/new")
    await author.send("/panel/stops/new", {"subject": "provider:sandbox", "words": "errado"})
    reader = await signed_in(world, Role.OPERATOR)

    async def logged() -> Seen | None:
        found = await reader.open("/panel/requests")
        return found if "POST /panel/stops/new" in found.text else None

    seen = await until(logged)

    row = seen.text.partition("POST /panel/stops/new")[2].partition("</tr>")[0]
    assert "Rita Prado" in row
    assert "not_the_name" not in re.sub(r"<[^>]*>", "", row)
    assert "panel_pages." not in re.sub(r"<[^>]*>", "", seen.text.partition("<tbody>")[2])
