"""A pinned client certificate through the proxies of deploy, and everything that is not it."""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from msgspec.structs import replace

from gateway.core.access import Staff
from gateway.core.caller_rules import CallerRule
from provider_adapters.testing.demo.ensure import Pair
from tests.servers.front import Front, Node, nginx, patient_haproxy
from tests.world.banks.authority import Authority
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, basic, opened, order, pair_of, sandbox, send
from tests.world.waiting import until

FRONTS = {"haproxy": patient_haproxy, "nginx": nginx}
REFUSED = (403, "SVC.AUT.010")


class Partners:
    """Certificates of partners, and what they look like in a header."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.pinned = self.authority.sign("pinned")
        self.other = self.authority.sign("other")
        (folder / "elsewhere").mkdir()
        self.stranger = Authority(folder / "elsewhere", "stranger").sign("stranger")
        self.pem = self.pinned.read_text().partition("-----BEGIN PRIVATE KEY-----")[0]
        self.der = ssl.PEM_cert_to_DER_cert(self.pem)

    @property
    def rule(self) -> CallerRule:
        return CallerRule(certificates=(sha256(self.der).hexdigest(),))

    @property
    def forged(self) -> Mapping[str, Mapping[str, str]]:
        """The pinned certificate, which is no secret, as a caller may write it itself."""
        encoded = f":{b64encode(self.der).decode()}:"
        return {
            "RFC 9440": {"Client-Cert": encoded},
            "as nginx writes it": {"Client-Cert": quote(self.pem, safe="")},
            "other letters": {"client-CERT": encoded},
            "underscore": {"Client_Cert": encoded},
            "a chain beside it": {"Client-Cert": encoded, "Client-Cert-Chain": encoded},
        }


@asynccontextmanager
async def caller(
    front: Front, certificate: Path | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a session that shows a certificate, or none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate)
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session


async def pay(
    session: aiohttp.ClientSession,
    front: Front,
    world: World,
    pair: Pair,
    reference: str,
    **headers: str,
) -> Answer:
    """Create a payout through the proxy."""
    return await send(
        session,
        front.url,
        "POST",
        world.at("/withdraw"),
        headers={"Authorization": basic(pair), **headers},
        document=order(reference, world.today()),
    )


@asynccontextmanager
async def behind(name: str, folder: Path, partners: Partners) -> AsyncIterator[tuple[World, Front]]:
    settings = sandbox(folder / "gateway")
    server = {
        "trusted_peers": "127.0.0.1",
        "client_address": "forwarded",
        "certificate_header": "Client-Cert",
    }
    settings = replace(settings, server=replace(settings.server, **server))
    async with opened(settings) as world:
        node = Node(port=world.port, ops=world.gateway.operations.port)
        certificate = partners.authority.sign("proxy")
        with FRONTS[name](node, node, certificate, clients=partners.authority.file) as front:
            yield world, front


@pytest.mark.parametrize("name", FRONTS)
async def test_only_the_pinned_certificate_can_pay(tmp_path: Path, name: str):
    partners = Partners(tmp_path)
    async with behind(name, tmp_path, partners) as (world, front):
        made = await world.issue()
        pair = pair_of(made)
        credentials = world.gateway.services.credentials
        await credentials.set_callers(Staff(world.office.acting), pair["client_id"], partners.rule)

        async with caller(front, partners.pinned) as session:
            await until(lambda: answers(session, front))
            paid = await pay(session, front, world, pair, "pinned")
        refused = {}
        async with caller(front) as session:
            refused["none"] = await pay(session, front, world, pair, "none")
            refused["repeated"] = await pay(session, front, world, pair, "pinned")
            for way, headers in partners.forged.items():
                refused[way] = await pay(session, front, world, pair, way[:8], **headers)
        async with caller(front, partners.other) as session:
            refused["another"] = await pay(session, front, world, pair, "another")
            for way, headers in partners.forged.items():
                refused[f"another, {way}"] = await pay(
                    session, front, world, pair, way[:8], **headers
                )
        async with caller(front, partners.stranger) as session:
            unknown = await stranger(session, front, world, pair)

        sent = [await world.executions(each) for each in ("none", "another", "stranger")]

    assert paid.status == 200
    assert {way: each.verdict for way, each in refused.items()} == dict.fromkeys(refused, REFUSED)
    assert unknown in {"no connection", "SVC.VAL.011"}
    assert sent == [[], [], []]


async def answers(session: aiohttp.ClientSession, front: Front) -> bool:
    async with session.get(f"{front.url}/baas/v1/health") as said:
        return said.status == 200


async def stranger(session: aiohttp.ClientSession, front: Front, world: World, pair: Pair) -> str:
    """Return the proxy's refusal of a certificate of an unknown authority."""
    headers = {"Authorization": basic(pair)}
    document = order("stranger", world.today())
    url = front.url + world.at("/withdraw")
    try:
        async with session.post(url, json=document, headers=headers) as said:
            return str((await said.json())["code"])
    except aiohttp.ClientError:
        return "no connection"
