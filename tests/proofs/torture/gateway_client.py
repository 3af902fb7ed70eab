"""A bank in a process of its own, and gateways beside it that a test starts, stops and kills."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import aiohttp
import msgspec

from gateway.core.account import Environment
from gateway.payouts.model import provider_key
from provider_adapters.testing.bank.control_client import BankControl
from tests.proofs.torture import processes, sites
from tests.proofs.torture.processes import FAILPOINT, OFFSET, Command
from tests.proofs.torture.sites import Account, TargetBank

Verdict = tuple[int, str]
"""Status and code; where there is no code, what the payout's status is shown as."""

LOST: Verdict = (0, "lost")
_BANK = "sandbox"
BEHIND_A_PROXY = {
    "port": "${PIXGATE_PORT:-0}",
    "connections_per_address": 2_000,
    "drain_accept_s": 0,
    "drain_s": 90,
    "trusted_peers": "127.0.0.1",
    "client_address": "forwarded",
}
"""The section ``server`` of a gateway that believes its proxy."""
"""It has every kind of account."""


@dataclass(slots=True, kw_only=True)
class GatewayClient:
    """
    One gateway and the account its partner pays from.

    Attributes:
        offset_s: How far its clock is ahead.
    """

    base: str
    command: Command
    config: Path
    account: Account
    control: BankControl
    session: aiohttp.ClientSession
    offset_s: int = 0

    @property
    def path(self) -> str:
        """Where payouts are created."""
        return f"/baas/v1/account/{self.account.id}/withdraw"

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": self.account.authorization,
            "Content-Type": "application/json",
        }

    def now(self) -> datetime:
        """Return the time by the gateway's clock."""
        return datetime.now(UTC) + timedelta(seconds=self.offset_s)

    def today(self) -> date:
        return self.now().date()

    def order(self, reference: str, value: float = 10.5) -> bytes:
        return msgspec.json.encode(
            {
                "method": "pix",
                "reference": reference,
                "value": value,
                "date": self.today().isoformat(),
                "destination": {
                    "name": "Maria Silva",
                    "tax_number": "52998224725",
                    "key_type": "email",
                    "key": "maria@example.com",
                },
            }
        )

    async def start(self, failpoint: str = "", **environ: str) -> None:
        """Start the gateway and wait until it is ready."""
        offset = {OFFSET: str(self.offset_s)}
        self.command.start(**offset, **({FAILPOINT: failpoint} if failpoint else {}), **environ)
        assert await self.command.wait(self.session), self.command.said()

    async def pay(self, reference: str, value: float = 10.5, patience_s: float = 300) -> Verdict:
        """Create a payout, or ask for it again."""
        return await self._ask("POST", self.path, self.order(reference, value), patience_s)

    async def read(self, reference: str) -> Verdict:
        return await self._ask("GET", f"{self.path}/{reference}", None, 300)

    async def executions(self, reference: str) -> list[int]:
        """Return the centavos of every payout the bank really made for a reference."""
        key = provider_key(Environment.SANDBOX, self.account.id, reference)
        said = await self.control.get("executions", query={"key": key})
        return [row["centavos"] for row in said["data"]]

    async def orders(self) -> int:
        """Count the payouts ordered at the bank since its last reset."""
        said = await self.control.get("calls")
        return sum(row["method"] == "POST" for row in said["data"])

    async def _ask(self, method: str, path: str, body: bytes | None, patience_s: float) -> Verdict:
        patience = aiohttp.ClientTimeout(total=patience_s)
        try:
            async with self.session.request(
                method, self.base + path, data=body, headers=self.headers, timeout=patience
            ) as said:
                document = msgspec.json.decode(await said.read())
        except (aiohttp.ClientError, TimeoutError):
            return LOST
        return said.status, document.get("code") or document["status"]


@dataclass(slots=True, kw_only=True)
class TortureWorld:
    """
    The bank, and where gateways are made.

    Attributes:
        offset_s: How far the clock of each is ahead at first: it is noon, whenever the test runs.
    """

    folder: Path
    bank: Command
    target: TargetBank
    control: BankControl
    session: aiohttp.ClientSession
    opened: AsyncExitStack
    offset_s: int

    async def gateway_client(
        self, name: str, store: str = "", kind: str = "idem", **changed: object
    ) -> GatewayClient:
        """
        Make a gateway, not started yet; on an SQLite file unless a store is given.

        It is patient with the bank and the store, unless ``changed`` says otherwise.
        """
        folder = self.folder / name
        folder.mkdir()
        config = folder / "config.yaml"
        url = store or f"sqlite:///{folder / 'pixgate.db'}"
        patient = sites.providers(self.target, **sites.PATIENT)
        database = {"url": url, "migrate": "always", "timeout_s": 60.0, "auth_timeout_s": 60.0}
        usual = {"providers": patient, "database": database}
        sites.write_config(config, url, self.target, **{**usual, **changed})
        accounts = await sites.furnish(config, self.control, name, self.target)
        command, base = processes.gateway(folder, config, name)
        self.opened.callback(command.kill)
        return GatewayClient(
            base=base,
            command=command,
            config=config,
            account=next(each for each in accounts if each.kind == kind),
            control=self.control,
            session=self.session,
            offset_s=self.offset_s,
        )


@asynccontextmanager
async def torture_world_in(folder: Path) -> AsyncIterator[TortureWorld]:
    """Run a bank; whatever was started is ended with the block."""
    async with AsyncExitStack() as opened:
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        session = await opened.enter_async_context(aiohttp.ClientSession(connector=connector))
        bank, _, control_url = processes.bank(folder, _BANK)
        opened.callback(bank.kill)
        offset_s = processes.to_noon_s()
        bank.start(**{OFFSET: str(offset_s)})
        assert await bank.wait(session), bank.said()
        control = await opened.enter_async_context(BankControl(control_url))
        yield TortureWorld(
            folder=folder,
            bank=bank,
            target=sites.target_bank(_BANK, folder),
            control=control,
            session=session,
            opened=opened,
            offset_s=offset_s,
        )
