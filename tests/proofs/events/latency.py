"""
From a bank's callback to the event at the endpoint: ``python -m tests.proofs.events.latency``.

Charges are paid at the bank and payouts ordered at the gateway, at a steady pace. The bank's
callbacks come here first, are noted, and go on to the gateway. Fails on an event that does not
come, never on a slow one.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import aiohttp
import msgspec
import uvloop
from aiohttp import web
from standardwebhooks import Webhook

from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import provider_key
from provider_adapters.testing.bank.control_client import BankControl
from tests.proofs.events.world import wired
from tests.proofs.torture import postgres, processes, sites
from tests.proofs.torture.processes import Command
from tests.proofs.torture.sites import Account
from tests.servers import loopback
from tests.world.waiting import until

_BANK: Final = "sandbox"
_FILE, _SERVER = "sqlite", "postgresql"
_INSIDE, _APART = "inside", "apart"
_PATIENCE_S: Final = 300.0


@dataclass(slots=True)
class Times:
    """
    When callbacks and events came, by what they name: a charge's reference or a payout's key.

    Attributes:
        pinged: The endpoint has answered.
        secret: Of the endpoint.
        gateway: Where callbacks go on to.
    """

    session: aiohttp.ClientSession
    called: dict[str, float] = field(default_factory=dict)
    came: dict[str, float] = field(default_factory=dict)
    pinged: bool = False
    secret: str = ""
    gateway: str = ""

    async def call(self, request: web.Request) -> web.Response:
        """Take a callback, and pass it on."""
        body = await request.read()
        said = msgspec.json.decode(body)
        self.called.setdefault(said.get("referencia") or said.get("chave"), time.monotonic())
        headers = {name: text for name, text in request.headers.items() if name != "Host"}
        url = f"{self.gateway}{request.path}"
        async with self.session.post(url, data=body, headers=headers) as answer:
            return web.Response(status=answer.status)

    async def take(self, request: web.Request) -> web.Response:
        """Take an event."""
        body = await request.read()
        event = Webhook(self.secret).verify(body, dict(request.headers))
        data = event["data"]
        if event["type"] == "endpoint.ping":
            self.pinged = True
        elif event["type"] == "payout.paid":
            name = provider_key(Environment.SANDBOX, data["account_id"], data["reference"])
            self.came.setdefault(name, time.monotonic())
        else:
            self.came.setdefault(data["reference"], time.monotonic())
        return web.Response(status=204)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A running gateway with its bank, and whoever pays."""

    times: Times
    session: aiohttp.ClientSession
    control: BankControl
    base: str
    account: Account
    bank_id: str

    async def pay_charge(self, number: int) -> str:
        """Have a charge paid; return its reference."""
        reference = f"charge-{number}"
        wanted = {"reference": reference, "value": Money(10_50)}
        await self.control.post("accounts", self.bank_id, "charges", body=wanted)
        await self.control.post(
            "charges", reference, "pay", body={}, query={"account": self.bank_id}
        )
        return reference

    async def pay_out(self, number: int) -> str:
        """Order a payout; return its provider key."""
        document = {
            "method": "pix",
            "reference": f"order-{number}",
            "value": 10 + number / 100,
            "date": datetime.now(UTC).date().isoformat(),
            "destination": {
                "name": "Maria Silva",
                "tax_number": "52998224725",
                "key_type": "email",
                "key": "maria@example.com",
            },
        }
        url = f"{self.base}/baas/v1/account/{self.account.id}/withdraw"
        header = {"Authorization": self.account.authorization}
        async with self.session.post(url, json=document, headers=header) as said:
            assert said.status == 200, await said.text()
        return provider_key(Environment.SANDBOX, self.account.id, f"order-{number}")


async def measure(options: argparse.Namespace) -> int:
    """Print the figures; return the exit code."""
    async with _scene(options) as scene:
        named: dict[str, list[str]] = {"charge paid": [], "payout paid": []}
        began = time.monotonic()
        for number in range(options.events):
            await asyncio.sleep(max(0.0, began + number / options.rate - time.monotonic()))
            if number % 2:
                named["payout paid"].append(await scene.pay_out(number))
            else:
                named["charge paid"].append(await scene.pay_charge(number))
        names = {each for some in named.values() for each in some}
        end = time.monotonic() + _PATIENCE_S
        await until(lambda: names <= scene.times.came.keys() or time.monotonic() > end)
    return _report(scene.times, named, f"{options.database}, worker {options.worker}")


def _report(times: Times, named: Mapping[str, Sequence[str]], where: str) -> int:
    missing = 0
    for what, names in named.items():
        late = [
            max(0.0, times.came[each] - times.called.get(each, times.came[each]))
            for each in names
            if each in times.came
        ]
        missing += len(names) - len(late)
        parts = statistics.quantiles(late, n=100, method="inclusive")
        print(  # noqa: T201
            f"{where}: {what}, {len(late)} events, missing {len(names) - len(late)}:"
            f" p50 {parts[49]:.2f} s, p99 {parts[98]:.2f} s, longest {max(late):.2f} s"
        )
    return 1 if missing else 0


@asynccontextmanager
async def _scene(options: argparse.Namespace) -> AsyncIterator[Scene]:
    """Start everything; entered when the endpoint is active."""
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="latency-")))
        store = f"sqlite:///{folder / 'pixgate.db'}"
        if options.database == _SERVER:
            store = (await opened.enter_async_context(postgres.running())).url()
        session = await opened.enter_async_context(aiohttp.ClientSession())
        times = Times(session)
        port = await opened.enter_async_context(_listening(times))
        bank, _, control_url = processes.bank(folder, _BANK)
        await _up(opened, session, bank)
        control = await opened.enter_async_context(BankControl(control_url))
        config, target = folder / "config.yaml", sites.target_bank(_BANK, folder)
        sites.write_config(
            config,
            store,
            target,
            providers=sites.providers(target, **sites.PATIENT),
            worker={"run": options.worker},
            events={"allow_local": True},
        )
        account = (await sites.furnish(config, control, "latency", target))[0]
        here = f"http://127.0.0.1:{port}"
        times.secret, bank_ids = await wired(config, here, f"{here}/events", [account])
        bank_id = bank_ids[account.id]
        await control.post("accounts", bank_id, "keys", body={"type": "evp"})  # of charges
        gateway, times.gateway = processes.gateway(folder, config, "gateway")
        await _up(opened, session, gateway)
        if options.worker == _APART:
            await _up(opened, session, processes.worker(folder, config, "worker"))
        await until(lambda: times.pinged)
        yield Scene(
            times=times,
            session=session,
            control=control,
            base=times.gateway,
            account=account,
            bank_id=bank_id,
        )


@asynccontextmanager
async def _listening(times: Times) -> AsyncIterator[int]:
    """Listen for callbacks and events; give the port."""
    app = web.Application()
    app.router.add_post("/events", times.take)
    app.router.add_post("/{path:.*}", times.call)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _up(opened: AsyncExitStack, session: aiohttp.ClientSession, command: Command) -> None:
    """Start a command, to be ended with ``opened``, and wait until it answers."""
    opened.callback(command.kill)
    command.start()
    assert await command.wait(session), command.said()


def main() -> int:
    """Measure once."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.events.latency")
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--rate", type=float, default=5.0, help="events a second")
    parser.add_argument("--database", choices=(_FILE, _SERVER), default=_SERVER)
    parser.add_argument("--worker", choices=(_INSIDE, _APART), default=_APART)
    loopback.stay()
    return uvloop.run(measure(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
