"""Two gateways behind the proxies of ``deploy``: one is killed, and their store is stopped."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from yarl import URL

from tests.proofs.torture import postgres, processes
from tests.proofs.torture.gateway_client import (
    BEHIND_A_PROXY,
    GatewayClient,
    TortureWorld,
    torture_world_in,
)
from tests.proofs.torture.postgres import Postgres
from tests.proofs.torture.processes import OFFSET, Command
from tests.servers.front import FRONTS, Front, Node, haproxy
from tests.world.banks.authority import Authority
from tests.world.waiting import until

REQUESTS, PARTNERS = 600, 6
"""Half of them payouts; each partner asks the next as soon as one is answered."""
OF_THE_CONTRACT = {"code", "message", "trace_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    world: TortureWorld
    store: Postgres
    partner: GatewayClient
    commands: tuple[Command, Command]

    @property
    def nodes(self) -> tuple[Node, Node]:
        one, two = (
            Node(port=int(each.environ["PIXGATE_PORT"]), ops=int(each.environ["PIXGATE_OPS_PORT"]))
            for each in self.commands
        )
        return one, two

    async def start(self, command: Command) -> None:
        """Start one of them and wait until it is ready."""
        command.start(**{OFFSET: str(self.world.offset_s)})
        assert await command.wait(self.world.session), command.said()


@asynccontextmanager
async def pair_in(folder: Path) -> AsyncIterator[Pair]:
    """Start PostgreSQL, a bank and two gateways that believe their proxy."""
    async with postgres.running() as store, torture_world_in(folder) as world:
        books = {"start": False, "control_port": URL(world.bank.answers).port}
        database = {"url": store.url(), "migrate": "never"}
        partner = await world.gateway_client(
            "pair", store=store.url(), database=database, sandbox_bank=books, server=BEHIND_A_PROXY
        )
        other, _ = processes.gateway(partner.config.parent, partner.config, "other")
        world.opened.callback(other.kill)
        pair = Pair(world=world, store=store, partner=partner, commands=(partner.command, other))
        for each in pair.commands:
            await pair.start(each)
        yield pair


@dataclass(slots=True, kw_only=True)
class Partners:
    """
    Partners who read and pay, and repeat a payout under its reference until it is answered.

    Attributes:
        first: What each request was answered at first, or what went wrong instead.
        paid: References that were answered 200.
        repeated: Those that were not at first.
        foreign: Errors without the contract's body and trace id.
    """

    pair: Pair
    front: Front
    name: str
    session: aiohttp.ClientSession
    first: Counter[tuple[str, int | str]] = field(default_factory=Counter)
    paid: list[str] = field(default_factory=list)
    repeated: set[str] = field(default_factory=set)
    foreign: list[tuple[int | str, str]] = field(default_factory=list)

    async def ask(self, numbers: Iterator[int]) -> None:
        """Make one request after the other, a payout every second time."""
        partner = self.pair.partner
        for number in numbers:
            if number % 2:
                path = f"/baas/v1/account/{partner.account.id}/balance"
                self.first["GET", await self.once("GET", path, None)] += 1
                continue
            reference = f"{self.name}-{number}"
            order = partner.order(reference)
            said = await self.once("POST", partner.path, order)
            self.first["POST", said] += 1
            while said != 200:
                self.repeated.add(reference)
                said = await self.once("POST", partner.path, order)
            self.paid.append(reference)

    async def once(self, method: str, path: str, body: bytes | None) -> int | str:
        """Make one request; return the status, or the name of what went wrong."""
        try:
            async with self.session.request(
                method, self.front.url + path, data=body, headers=self.pair.partner.headers
            ) as said:
                text = await said.text()
        except aiohttp.ClientError as problem:
            self.foreign.append((type(problem).__name__, method))
            return type(problem).__name__
        if said.status != 200 and not is_ours(said, text):
            self.foreign.append((said.status, text))
        return said.status


def is_ours(said: aiohttp.ClientResponse, text: str) -> bool:
    """Say whether an error has the contract's body, with the trace id of its header."""
    try:
        document = json.loads(text)
    except ValueError:
        return False
    return set(document) >= OF_THE_CONTRACT and (
        document["trace_id"] == said.headers.get("X-Trace-ID") != ""
    )


@asynccontextmanager
async def partners(pair: Pair, front: Front, name: str) -> AsyncIterator[Partners]:
    connector = aiohttp.TCPConnector(limit=0, ssl=False)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Partners(pair=pair, front=front, name=name, session=session)


async def test_a_killed_node_behind_either_proxy_fails_no_request(tmp_path: Path):
    """
    A read is answered at once; a payout at the latest when repeated, and made once.

    One that the dead process had stored and not sent is looked up when its lease ends.
    """
    certificate = Authority(tmp_path).sign("proxy")
    async with pair_in(tmp_path) as pair:
        for name, deployed in FRONTS.items():
            with deployed(*pair.nodes, certificate) as front:
                async with partners(pair, front, name) as these:
                    numbers = iter(range(REQUESTS))
                    asking = asyncio.gather(*(these.ask(numbers) for _ in range(PARTNERS)))
                    await until(lambda these=these: these.first.total() > REQUESTS // 3)
                    pair.commands[0].kill(signal.SIGKILL)
                    await asking
                logged = front.log.read_text()
            await pair.start(pair.commands[0])

            assert these.first["GET", 200] == REQUESTS // 2, (name, these.first)
            assert len(these.paid) == REQUESTS // 2
            assert these.foreign == [], name
            assert pair.partner.account.id not in logged
            for reference in these.paid:
                made = await pair.partner.executions(reference)
                assert made == [1050] or (made == [] and reference in these.repeated), reference


async def test_without_a_store_the_gateway_answers_in_place_of_the_proxy(tmp_path: Path):
    """Every answer has the contract's body, and comes from a process."""
    certificate = Authority(tmp_path).sign("proxy")
    async with pair_in(tmp_path) as pair:
        with haproxy(*pair.nodes, certificate) as front:
            async with partners(pair, front, "away") as these:
                path = f"/baas/v1/account/{pair.partner.account.id}/balance"
                await pair.store.crash()
                codes: Counter[int | str] = Counter()

                async def asked() -> bool:
                    codes[await these.once("GET", path, None)] += 1
                    order = pair.partner.order(f"away-{codes.total()}")
                    codes[await these.once("POST", pair.partner.path, order)] += 1
                    # by then HAProxy has asked more often than it takes to leave a process out
                    return codes[503] >= REQUESTS

                await until(asked)
                logged = [json.loads(line) for line in lines(front)]
                await pair.store.start()
                await until(lambda: is_served(these, path))

    assert these.foreign == []
    assert {each["server"].rpartition("/")[2] for each in logged} == {"one", "two"}


async def is_served(these: Partners, path: str) -> bool:
    return await these.once("GET", path, None) == 200


def lines(front: Front) -> list[str]:
    return [line for line in front.log.read_text().splitlines() if line.startswith("{")]
