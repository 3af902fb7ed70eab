"""Files that people take away: whole, harmless in a spreadsheet, of their own companies alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from gateway.banks.port.payout_orders import FailureCode
from gateway.core.exports import MOST_OF_A_PERSON
from gateway.core.rights import Role
from gateway.payouts.model import Attempt, Failure, Payout, PayoutState
from gateway.reports.files import ROWS_A_PAGE
from gateway.request_log.model import LoggedRequest
from gateway.request_log.store import RequestRecords
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.world.gateway.world import World
from tests.world.stores.samples import attempt, payout

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =HYPERLINK(1)",
    "\u200b=1+1",
    "\uff1d1",
    'a"b";c;"',
    "zwei\r\nZeilen;x",
    "rechts\u202elinks",
    "/" * 500 + "%" * 524,
    "emoji \N{PILE OF POO}",
]
"""What somebody else may have written into any field of theirs."""
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\uff1d")


async def stored(world: World, account: str, reference: str, number: int, **more: Any) -> Payout:
    now, demo = world.gateway.kernel.now(), world.demo["accounts"][account]
    plain = payout(reference, account_id=demo["id"])
    about = replace(
        plain,
        provider_key=f"{account[:1]}{number:031}",
        created_at=now - timedelta(seconds=number),
        **{"state": PayoutState.PAID, **more},
    )
    first: Attempt = attempt(started_at=about.created_at)
    await world.gateway.kernel.store.payouts.add(about, first)
    return about


def logged(world: World, number: int, text: str, company: str = "main") -> LoggedRequest:
    return LoggedRequest(
        at=world.gateway.kernel.now() - timedelta(seconds=number),
        trace_id=text,
        surface="banking",
        route="banking.balance",
        status=403,
        code=text,
        reason=text,
        client_id=text,
        user_id="",
        company_id=world.demo["companies"][company]["id"],
        line="{}",
        method="GET",
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hostile(world: World) -> AsyncIterator[World]:
    """Payouts and requests with hostile texts, and those of another company."""
    for number, text in enumerate(HOSTILE):
        to = replace(payout(text).destination, name=text)
        await stored(world, "main", text, number, destination=to, client_id=text[:64], e2e_id=text)
    failed = Failure(FailureCode.NOT_SENT)
    await stored(world, "main", "not-sent", 90, state=PayoutState.FAILED, failure=failed)
    await stored(world, "other_company", "foreign-canary", 91)
    log = RequestRecords(world.gateway.kernel.store.database)
    await log.add([logged(world, number, text) for number, text in enumerate(HOSTILE)])
    await log.add([logged(world, 91, "foreign-canary", "other")])
    return world


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def limited(hostile: World) -> Person:
    """A user with every right, for the main company alone."""
    mine = frozenset({hostile.demo["companies"]["main"]["id"]})
    return await signed_in(hostile, *Role, companies=mine)


def read(text: str) -> list[dict[str, str]]:
    """Read a table like a Brazilian spreadsheet."""
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=";"))


def statement(world: World, form: str = "csv") -> str:
    account = world.demo["accounts"]["main"]["id"]
    return f"/panel/accounts/{account}/statement/export?format={form}"


TABLES = ("/panel/payouts/export?days=1", "/panel/requests/export", "statement")


def path_of(world: World, name: str) -> str:
    return statement(world) if name == "statement" else name


@pytest.mark.parametrize("name", TABLES)
async def test_no_exported_cell_is_a_formula(hostile: World, limited: Person, name: str):
    """In a spreadsheet it calculates nothing; every line has every column."""
    seen = await limited.open(path_of(hostile, name))

    assert seen.status == 200, seen.text
    assert seen.text.startswith("\ufeff")
    assert seen.headers["Content-Type"].startswith("text/csv")
    assert seen.headers["Content-Disposition"].startswith("attachment; ")
    for line in read(seen.text):
        assert None not in line
        assert None not in line.values()
        for column, cell in line.items():
            is_number = column == "Valor" and cell.removeprefix("-")[:1].isdigit()
            assert is_number or not cell.startswith(FORMULAS), (column, cell)
            assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068") & set(cell)


async def test_exported_values_match_the_written_ones(hostile: World, limited: Person):
    """Quotes, semicolons, line ends and 1,024 characters are preserved."""
    lines = read((await limited.open("/panel/payouts/export?days=1")).text)
    found = {line["Referência"] for line in lines}

    for text in HOSTILE:
        guarded = f"'{text[0]}'{text[1:]}" if text[0] in "\t\r" else f"'{text}"
        assert {text, guarded, text.replace("\u202e", "\N{OPEN BOX}")} & found, text
        assert guarded in found or not text.startswith(FORMULAS)


async def test_an_exported_payout_matches_the_panel(hostile: World, limited: Person):
    lines = read((await limited.open("/panel/payouts/export?days=1")).text)
    (one,) = [line for line in lines if line["Referência"] == "not-sent"]

    assert (one["Valor"], one["CPF/CNPJ"]) == ("10,50", "***.982.247-**")
    assert (one["Situação"], one["Falha"]) == ("certamente não enviado", "não enviado no seu dia")
    assert one["Identificador da conta"] == hostile.demo["accounts"]["main"]["id"]


async def test_an_exported_file_has_the_page_s_filter(hostile: World, limited: Person):
    seen = await limited.open("/panel/payouts?tab=not_sent&days=1")
    assert 'href="/panel/payouts/export?tab=not_sent&amp;days=1"' in seen.text

    lines = read((await limited.open("/panel/payouts/export?tab=not_sent&days=1")).text)

    assert [line["Referência"] for line in lines] == ["not-sent"]


@pytest.mark.parametrize("path", ["/panel/payouts?days=30", "/panel/requests?status_class=4"])
async def test_the_download_link_follows_the_filter(limited: Person, path: str):
    """The link is outside the list, and is replaced together with it."""
    part = await limited.open(path, **{"HX-Request-Type": "partial"})
    whole = await limited.open(path)

    link = path.replace("?", "/export?")
    assert f'id="csv" href="{link}" download hx-swap-oob="true"' in part.text
    assert f'id="csv" href="{link}" download>' in whole.text
    assert whole.text.count('id="csv"') == 1


@pytest.mark.parametrize("name", ["/panel/payouts/export?days=1", "/panel/requests/export"])
async def test_an_unlimited_user_sees_the_other_company_s_data(hostile: World, name: str):
    """Otherwise the tests above would prove nothing."""
    everybody = await signed_in(hostile, *Role)

    seen = await everybody.open(name)

    assert "foreign-canary" in seen.text


async def test_a_list_longer_than_a_page_is_exported_complete(world: World):
    """Complete, without duplicates, and in the order of the list."""
    count = 2 * ROWS_A_PAGE + 1
    log = RequestRecords(world.gateway.kernel.store.database)
    await log.add([logged(world, number, f"many-{number}") for number in range(count)])
    person = await signed_in(world, *Role)

    seen = await person.open("/panel/requests/export?status=403&route=banking.balance")

    assert seen.headers.get("Transfer-Encoding") == "chunked"
    traces = [line["Rastreio (trace ID)"] for line in read(seen.text)]
    found = [each for each in traces if each.startswith("many-")]
    assert found == [f"many-{number}" for number in range(count)]


async def test_a_user_may_read_two_files_at_once(world: World, viewer: Person):
    """A third file is refused; other users of the company still get theirs."""
    turns, other = world.gateway.services.exports.turns, await signed_in(world, *Role)
    who = await world.gateway.services.identity.users.find("viewer@panel.example")
    held = [turns.take(who.id) for _ in range(MOST_OF_A_PERSON)]

    refused = await viewer.open("/panel/payouts/export")
    served = await other.open("/panel/payouts/export")
    held.clear()
    again = await viewer.open("/panel/payouts/export")

    assert (refused.status, refused.headers["Retry-After"]) == (429, "5")
    assert (served.status, again.status) == (200, 200)


@pytest.mark.parametrize("form", ["csv", "ofx"])
async def test_no_statement_shows_a_complete_cpf(hostile: World, limited: Person, form: str):
    seen = await limited.open(statement(hostile, form))

    assert "***.982.247-**" in seen.text
    assert "529.982.247-25" not in seen.text
    assert "52998224725" not in seen.text


async def test_a_statement_links_to_each_of_its_files(world: World, viewer: Person):
    account = world.demo["accounts"]["main"]["id"]

    seen = await viewer.open(f"/panel/accounts/{account}/statement")

    led = re.findall(r"/statement/export\?format=(\w+)&", seen.text)
    assert led == ["csv", "ofx", "pdf"]
