"""Secrets and personal data are planted, and then looked for wherever they must not be."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.browser import panel_site
from tests.browser.panel_site import PanelSite
from tests.browser.people import Person
from tests.browser.screens import SCREENS
from tests.browser.walking import TOKEN, Seen, Visitor, visiting, walk
from tests.world.gateway.world import Pair, basic, order
from tests.world.people import CLI
from tests.world.waiting import until

TAX_NUMBER = "11144477735"
KEY = "canario-7351@example.com"
PASSWORD = "uma frase que canta 7351"

SECRET = re.compile(r'id="sec"[^>]*>(gws_[\w-]{20,})<')
CLIENT = re.compile(r'id="cid"[^>]*>(cli_\w+)<')
KEPT_BY_INTENT = frozenset({"demo.json", "keys.json"})
"""The demo's own secrets and the gateway's keys; the system lets nobody else read them."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def aviary(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PanelSite]:
    """A gateway of this module alone, whose files and lines are all from here."""
    wanted = panel_site.settings(tmp_path_factory.mktemp("canaries"))
    async with panel_site.serving(wanted) as made:
        yield made


async def issued(visitor: Visitor, account: str) -> tuple[Seen, Pair]:
    """Issue a credential by the form; return the one answer that holds its secret."""
    fields = {"name": "canary", "reach": f"account:{account}", "may_balance": "read"}
    token = await visitor.token("/panel/credentials/new")
    said = await visitor.send("/panel/credentials/new", {TOKEN: token, "ends": "never", **fields})
    client, secret = CLIENT.search(said.text), SECRET.search(said.text)
    assert client, said.status
    assert secret
    return said, Pair(client_id=client[1], client_secret=secret[1])


async def somebody(site: PanelSite) -> Person:
    """Create a user whose password is searched for."""
    users = site.world.gateway.services.identity.users
    new = InvitationBody(email="canary@example.com", name="Canary", roles=[Role.VIEWER])
    user = await users.create(CLI, new, PASSWORD)
    return Person(id=user.id, email=new.email, password=PASSWORD, secret="", recovery=[])


async def tokens(site: PanelSite, person: Person) -> list[str]:
    """Sign in as a program does, and call; return what opens something."""
    url = f"{site.origin}/iam/v1/auth/login"
    document = {"email": person.email, "password": person.password}
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json=document) as said:
            given = await said.json()
        headers = {"Authorization": f"Bearer {given['access_token']}"}
        async with session.get(f"{site.origin}/backoffice/v1/accounts", headers=headers) as said:
            assert said.status == 200
    return [given["access_token"], given["refresh_token"]]


async def used(site: PanelSite) -> tuple[set[str], Seen, list[Seen]]:
    """Use a secret in every way there is; return them, and what was shown then."""
    world, person = site.world, await somebody(site)
    keeper = await site.people.make(Role.SECURITY, Role.OPERATOR)
    cookies = await site.people.sign_in(keeper)
    async with visiting(site, cookies) as visitor:
        answer, pair = await issued(visitor, site.seeds["main"])
        assert (await world.ask("GET", world.at("/balance"), pair=pair)).status == 200
        await world.call("GET", f"/baas/{pair['client_secret']}", headers={"X-A": basic(pair)})
        for text in (TAX_NUMBER, KEY, pair["client_secret"]):
            token = await visitor.token("/panel")
            await visitor.send("/panel/search", {TOKEN: token, "q": text})
    to = {"tax_number": TAX_NUMBER, "name": "Joana", "key_type": "cpf", "key": TAX_NUMBER}
    for number, changed in enumerate(({}, {"key_type": "email", "key": KEY})):
        paid = order(f"canary-{number}", world.today(), destination={**to, **changed})
        assert (await world.pay(paid)).status == 200
    pages = await shown(site)
    encoded = base64.b64encode(f"{pair['client_id']}:{pair['client_secret']}".encode()).decode()
    secrets = {pair["client_secret"], encoded, keeper.secret, *keeper.recovery, person.password}
    secrets |= {*cookies.values(), *await tokens(site, person)}
    return secrets, answer, pages


async def shown(site: PanelSite) -> list[Seen]:
    starts = [each.at(site.seeds) for each in SCREENS]
    paid = f"/panel/accounts/{site.seeds['main']}/payouts"
    found = []
    for role in (Role.SECURITY, Role.OPERATOR):
        async with visiting(site, await site.people.cookies_of(role)) as visitor:
            found += await walk(visitor, [f"{paid}/canary-0", f"{paid}/canary-1", *starts])
    return found


async def metrics(site: PanelSite) -> str:
    url = f"http://127.0.0.1:{site.world.gateway.operations.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as said:
        return await said.text()


async def test_planted_secrets_are_found_nowhere(
    aviary: PanelSite, capfd: pytest.CaptureFixture[str]
):
    """In pages, log lines, metrics and files; a single answer contains a secret."""
    secrets, answer, pages = await used(aviary)
    lines: list[str] = []

    async def is_written() -> bool:
        """Lines of the log and figures are written a moment later."""
        lines.extend((*capfd.readouterr(), await metrics(aviary)))
        return "panel_pages.credential_issue" in "".join(lines)

    await until(is_written)
    logged = "".join(lines)
    own = {TAX_NUMBER, written(TAX_NUMBER), KEY}
    folder = Path(aviary.world.gateway.kernel.settings.var)

    assert answer.kept == "no-store"
    assert "canary-1" in "".join(page.text for page in pages)
    assert [each[:8] for each in secrets | own if each in logged] == []
    assert in_pages(pages, secrets | own - {KEY}) == {}
    assert [path for path in in_pages(pages, {KEY}) if "/payouts/canary-1" not in path] == []
    assert in_files(folder, secrets, own) == {}


def written(tax_number: str) -> str:
    return f"{tax_number[:3]}.{tax_number[3:6]}.{tax_number[6:9]}-{tax_number[9:]}"


def in_pages(pages: list[Seen], looked_for: set[str]) -> dict[str, list[str]]:
    """Return the pages that hold something, by its beginning."""
    found = {page.path: [each[:8] for each in looked_for if each in page.text] for page in pages}
    return {path: those for path, those in found.items() if those}


def in_files(folder: Path, secrets: set[str], own: set[str]) -> dict[str, list[str]]:
    """
    Return the files that hold something.

    Payouts keep whom they pay in their database (docs/database.md), and the simulated bank
    is somebody else's house: there it is secrets alone that must not be.
    """
    found = {}
    for file in (each for each in folder.rglob("*") if each.is_file()):
        if file.name in KEPT_BY_INTENT:
            continue
        content = file.read_bytes()
        looked_for = secrets if ".db" in file.name else secrets | own
        found[file.name] = [each[:8] for each in looked_for if each.encode() in content]
    assert "pixgate.db" in found
    return {name: those for name, those in found.items() if those}
