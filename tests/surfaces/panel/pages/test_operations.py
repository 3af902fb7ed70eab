"""Overview, banks, stops and callbacks: what each shows, to whom, and what its forms do."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import Callback
from gateway.callbacks.store import CallbackRecords
from gateway.companies.service import find_company
from gateway.core.rights import Role
from tests.surfaces.panel.pages.person import Person, Seen, signed_in
from tests.world.gateway.world import World, order
from tests.world.stops import in_force
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


def company(world: World, name: str) -> str:
    return str(world.demo["companies"][name]["id"])


async def test_the_overview_counts_paid_payouts(world: World, viewer: Person):
    before = ordered(await viewer.open("/panel"))
    reference = f"overview-{uuid4()}"
    await world.pay(order(reference, world.today(), value=12.34))
    await world.settled(reference)

    seen = await viewer.open("/panel")

    assert seen.status == 200
    assert ordered(seen) == before + 1


def ordered(seen: Seen) -> int:
    """Read how many payouts were ordered today."""
    found = re.search(r"Valor solicitado.*?(\d+) pagamento", seen.text, re.DOTALL)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("period", ["today", "7d", "30d", "for-ever"])
async def test_any_period_shows_one_selected_choice(viewer: Person, period: str):
    seen = await viewer.open(f"/panel?period={period}")

    assert seen.status == 200
    assert len(re.findall(r'aria-current="true"', seen.text)) == 1


@pytest.mark.parametrize("window", ["15m", "24h", "7d", "'"])
async def test_a_bank_is_shown_with_its_capabilities(viewer: Person, window: str):
    every = await viewer.open(f"/panel/providers?window={window}")
    one = await viewer.open(f"/panel/providers/sandbox?window={window}")

    assert (every.status, one.status) == (200, 200)
    assert "dá a mesma resposta" in every.text
    assert "/panel/stops/new" not in every.text + one.text


async def test_a_bank_that_is_not_configured_is_404(viewer: Person):
    assert (await viewer.open("/panel/providers/none")).status == 404
    assert (await viewer.open("/panel/providers/none/incident")).status == 404


async def test_the_latest_payouts_are_a_page_and_a_partial(world: World, viewer: Person):
    reference = f"latest-{uuid4()}"
    await world.pay(order(reference, world.today(), value=45.67))
    now = world.gateway.kernel.now()
    since = f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    path = f"/panel/overview/latest?since={since}&until={now:%Y-%m-%dT%H:%M:%SZ}"

    whole = await viewer.open(path)
    part = await viewer.open(path, **{"HX-Request-Type": "partial"})

    assert "45,67" in whole.text
    assert "45,67" in part.text
    assert "<html" in whole.text
    assert "<html" not in part.text


@pytest.mark.parametrize("sent", ["", "?since=yesterday&until=now"])
async def test_an_invalid_period_is_refused(viewer: Person, sent: str):
    assert (await viewer.open(f"/panel/overview/latest{sent}")).status == 400


async def test_balances_are_read_after_the_page_and_show_their_time(world: World, viewer: Person):
    """At first nothing is read yet, and the bank is asked meanwhile."""
    first = await viewer.open("/panel/overview/balances")

    async def seen_with_balances() -> Seen | None:
        seen = await viewer.open("/panel/overview/balances")
        return seen if "R$" in seen.text else None

    seen = await until(seen_with_balances)
    other = frozenset({company(world, "other")})
    stranger = await signed_in(world, Role.VIEWER, companies=other)

    assert first.status == 200
    assert "<time" in seen.text
    assert f"{len(world.demo['accounts'])}" in seen.text
    assert (await stranger.open("/panel/overview/balances")).text != seen.text


async def test_refusals_are_shown_to_readers_of_requests_alone(
    world: World, viewer: Person, operator: Person
):
    refused = await world.ask("GET", world.at("/balance"), by="none")
    assert refused.status == 403

    assert (await viewer.open("/panel/overview/refusals")).status == 403
    assert "/overview/refusals" not in (await viewer.open("/panel")).text
    assert (await operator.open("/panel/overview/refusals")).status == 200
    assert "/overview/refusals" in (await operator.open("/panel")).text


async def test_a_stop_is_set_and_shown(world: World, operator: Person):
    subject = company(world, "other")
    await operator.open("/panel/stops/new")

    done = await operator.send("/panel/stops/new", stop(subject))
    seen = await operator.open("/panel/stops")

    assert (done.status, done.location) == (303, "/panel/stops")
    assert subject in seen.text
    known = await find_company(world.gateway.kernel.store.database, subject)
    assert known is not None
    assert f'title="{subject}">{known.name}</span>' in seen.text
    assert f'data-copy="{subject}"' in seen.text
    assert "conferência" in seen.text
    overview = (await operator.open("/panel")).text
    assert known.name in overview
    assert subject not in overview


def stop(named: str, **changed: str) -> dict[str, str]:
    form = {"subject": f"company:{named}", "reason": "conferência de saldo"}
    return {**form, "minutes": "60", "words": "bloquear", **changed}


@pytest.mark.parametrize(
    "changed",
    [
        {"words": ""},
        {"words": "sim"},
        {"subject": "provider:sandbox"},
        {"subject": "provider:", "words": ""},
        {"subject": "everything:"},
        {"subject": "everything:sandbox", "words": "bloquear tudo"},
        {"minutes": "100000000"},
        {"minutes": "-1"},
        {"reason": ""},
        {"subject": ""},
        {"subject": "company:nothing-of-this-name"},
    ],
    ids=str,
)
async def test_a_stop_with_a_wrong_form_is_not_set(
    world: World, operator: Person, changed: dict[str, str]
):
    """The typed text is kept, and nothing is stopped."""
    before = await stops(world)
    await operator.open("/panel/stops/new")

    said = await operator.send("/panel/stops/new", stop(company(world, "other"), **changed))

    assert said.status == 400
    assert changed.get("reason", "conferência") in said.text
    assert await stops(world) == before


async def stops(world: World) -> int:
    return len(await in_force(world.office))


async def test_a_callback_hides_personal_data(world: World, viewer: Person):
    """Its body is a bank's own text: markup is escaped, and personal numbers are masked."""
    kernel = world.gateway.kernel
    body = '{"cpf":"529.982.247-25","to":"maria@example.com","phone":"+5511987654321"}<script>'
    await CallbackRecords(kernel.store.database).add(
        Callback(
            id=str(uuid4()),
            provider="sandbox",
            event=str(uuid4()),
            kind=CallbackKind.CHARGE,
            subject="<b>charge</b>",
            received_at=kernel.now(),
            body=body.encode(),
        )
    )

    seen = await viewer.open("/panel/callbacks?kind=charge")

    assert "•••" in seen.text
    for hidden in ("529.982.247-25", "maria@example.com", "11987654321", "<script>", "<b>charge"):
        assert hidden not in seen.text


@pytest.mark.parametrize("asked", ["kind=none", "state=none", "page=0", "page=many"])
async def test_an_invalid_filter_is_refused(viewer: Person, asked: str):
    assert (await viewer.open(f"/panel/callbacks?{asked}")).status == 400


async def test_an_empty_filter_of_callbacks_links_to_all(viewer: Person):
    seen = await viewer.open("/panel/callbacks?provider=none")

    assert seen.status == 200
    assert 'href="/panel/callbacks"' in seen.text
