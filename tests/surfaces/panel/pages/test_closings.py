"""The closing of a day in the panel: shown, signed by one person, locked by another."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import insert

from gateway.closings.model import ForeignDebit
from gateway.core.limits import CallRate
from gateway.core.rights import Role
from gateway.statements.model import local_day
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import foreign_debits
from policies.traffic.quota import PERSON
from tests.surfaces.panel.pages.person import Person, Seen, signed_in
from tests.world.gateway.world import FREE, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

DIGEST = re.compile(r'name="digest" value="([0-9a-f]{64})"')
DAY = re.compile(r'name="day" value="(\d{4}-\d\d-\d\d)"')


def fields(seen: Seen) -> dict[str, str]:
    digest, day = DIGEST.search(seen.text), DAY.search(seen.text)
    assert digest
    assert day
    return {"digest": digest[1], "day": day[1]}


async def test_one_user_signs_yesterday_and_another_locks_it(world: World, viewer: Person):
    """Everybody reads their names, also without the right to read users."""
    here = f"/panel/accounts/{world.demo['accounts']['main']['id']}/closing"
    other = await signed_in(world, Role.APPROVER, name="Joana Prado")
    approver = await signed_in(world, Role.APPROVER, name="Rui Sá")

    before = await approver.open(f"{here}?read=1")
    signed = await approver.send(f"{here}/sign", fields(before))
    mine = await approver.open(signed.location)
    theirs = await other.open(signed.location)
    locked = await other.send(f"{here}/lock", fields(theirs))
    after = await viewer.open(locked.location)

    for words in ("Saldo inicial", "Saldo final", "Ninguém assinou este dia."):
        assert words in before.text
    assert "Outra pessoa fecha o dia." in mine.text
    assert re.search(r"Você assinou o dia \d\d/\d\d/\d{4}\.", mine.text)
    assert "Você assinou" not in theirs.text
    assert (signed.status, locked.status) == (303, 303)
    assert "Você fechou o dia" in (await other.open(locked.location)).text
    assert ">Rui Sá</span>, " in after.text
    assert ">Joana Prado</span>, " in after.text
    assert ">Rui Sá</span>, " in theirs.text
    assert "Você fechou" not in after.text
    assert not DIGEST.search(after.text)


async def test_an_unfinished_day_is_refused_on_the_page(world: World, approver: Person):
    here = f"/panel/accounts/{world.demo['accounts']['main']['id']}/closing"

    today = await approver.open(f"{here}?read=1&day=2999-01-01")
    changed = await approver.send(f"{here}/sign", {"day": "2026-11-01", "digest": "0" * 64})

    assert today.status == 200
    assert "Saldo inicial" not in today.text
    assert changed.status in {400, 422}


async def test_a_closing_page_reads_the_bank_after_loading(world: World, viewer: Person):
    here = f"/panel/accounts/{world.demo['accounts']['main']['id']}/closing"

    page = await viewer.open(here)

    assert "Fechamento do dia" in page.text
    assert 'hx-trigger="load"' in page.text
    assert not DIGEST.search(page.text)


async def test_reading_a_day_draws_tokens_for_its_calls_to_the_bank(world: World, viewer: Person):
    """Balances before and after the movements; the page without them costs one."""
    here = f"/panel/accounts/{world.demo['accounts']['main']['id']}/closing"
    quota = world.gateway.services.user_policies.user_quota
    scarce = CallRate(rate=0.001, burst=100)
    quota.change({PERSON: scarce})
    try:
        left = [_left(await viewer.open(each)) for each in (here, f"{here}?read=1", here)]
    finally:
        quota.change({PERSON: FREE})

    assert left == [99, 98, 95]


def _left(seen: Seen) -> int:
    """Return how many calls the person has left."""
    return int(seen.headers["RateLimit"].partition("r=")[2].partition(";")[0])


async def test_a_closing_links_to_each_file_of_its_statement(
    world: World, approver: Person, viewer: Person
):
    """For users who may download files."""
    account = f"/panel/accounts/{world.demo['accounts']['main']['id']}"
    button = re.compile(r"statement/export\?format=(\w+)&amp;init=2026-11-01&amp;ends=2026-11-01")

    closing = await viewer.open(f"{account}/closing?day=2026-11-01")
    statement = await viewer.open(f"{account}/statement?init=01/11/2026&ends=01/11/2026")

    assert button.findall(closing.text) == ["csv", "ofx", "pdf"]
    assert button.findall(statement.text) == ["csv", "ofx", "pdf"]
    assert button.findall((await approver.open(f"{account}/closing?day=2026-11-01")).text) == []


async def test_a_foreign_debit_is_listed_until_it_is_explained(
    world: World, approver: Person, viewer: Person
):
    """On the overview and the closing of its day, where it is explained; readers see no form."""
    account_id, kernel = world.demo["accounts"]["main"]["id"], world.gateway.kernel
    at = kernel.now() - timedelta(days=1)
    debit = ForeignDebit(
        account_id=account_id,
        line_id="line <1>",
        day=local_day(at),
        at=at,
        centavos=4_217,
        name="Cartório & Filhos",
        description="bloqueio",
        e2e_id="",
        provider_key="",
        found_at=kernel.now(),
    )
    async with kernel.store.database.writing() as connection:
        await connection.execute(insert(foreign_debits), row_of(debit))
    here = f"/panel/accounts/{account_id}/closing"

    told = await viewer.open("/panel")
    read_only = await viewer.open(here)
    before = await approver.open(f"{here}?day={local_day(at):%d/%m/%Y}")
    chosen_none = await approver.send(f"{here}/explain", {"reason": "ofício 12"})
    done = await approver.send(
        f"{here}/explain",
        {"line_id": "line <1>", "reason": "ofício 12", "day": f"{local_day(at)}"},
    )
    after = await viewer.open(done.location)
    told_after = await viewer.open("/panel")

    assert "1 débito sem solicitação nossa" in told.text
    assert f"{here}?day=" in told.text
    assert 'name="line_id"' not in read_only.text
    assert "Cartório &amp; Filhos" in before.text
    assert chosen_none.status in {400, 422}
    assert done.status == 303
    assert "ofício 12" in after.text
    assert "débito sem solicitação nossa" not in told_after.text
