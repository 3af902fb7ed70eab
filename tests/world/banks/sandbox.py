"""The sandbox bank in this process, with an account on it that has one of everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from gateway.banks.port.providers import ProviderAccount
from provider_adapters.testing.sandbox import SandboxBank

OPENING = 10_000_00


@dataclass(frozen=True)
class BankWorld:
    """
    A bank that can be spoken to and steered.

    Attributes:
        url: The address of the bank's own interface.
        account: Holds ``OPENING`` centavos, two keys, and a charge of each state.
    """

    url: str
    control: str
    account: ProviderAccount
    session: aiohttp.ClientSession

    async def tell(self, path: str, document: object | None = None, method: str = "POST") -> dict:
        async with self.session.request(method, self.control + path, json=document) as answer:
            assert answer.status < 300, await answer.text()
            said: dict = await answer.json()
            return said

    async def fault(self, operation: str, fault: str, **options: object) -> None:
        """Let the next call of an operation go wrong."""
        await self.tell("/faults", {"operation": operation, "fault": fault, "count": 1, **options})

    async def executions(self, key: str) -> list[int]:
        """Return the centavos of every payout really made under a key."""
        said = await self.tell(f"/executions?key={key}", method="GET")
        return [row["centavos"] for row in said["data"]]


@dataclass(frozen=True)
class Paid:
    """A payment of R$ 10.50 that came in; its charge and its end-to-end id."""

    reference: str
    e2e_id: str


@asynccontextmanager
async def sandbox_bank_world(folder: Path) -> AsyncIterator[BankWorld]:
    """Open a bank, and an account on it."""
    bank = SandboxBank(db_path=str(folder / "bank.db"), port=0, control_port=0, settle_after_s=0.05)
    await bank.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield await _furnished(bank, session)
    finally:
        await bank.close()


async def _furnished(bank: SandboxBank, session: aiohttp.ClientSession) -> BankWorld:
    control = f"http://127.0.0.1:{bank.control_port}/control"
    bare = BankWorld(f"http://127.0.0.1:{bank.port}", control, ProviderAccount(
        account_id="", provider_account=""), session)  # fmt: skip
    made = await bare.tell(
        "/accounts",
        {"name": "Loja Exemplo", "tax_number": "11222333000181", "balance": 10000.00,
         "city": "Sao Paulo", "zip_code": "01310-100"},
    )  # fmt: skip
    where = f"/accounts/{made['id']}"
    await bare.tell(f"{where}/keys", {"type": "email", "key": "loja@example.com"})
    await bare.tell(f"{where}/keys", {"type": "cnpj", "key": "11222333000181"})
    for state in ("pending", "paid", "expired", "anonymous", "canceled"):
        await bare.tell(
            f"{where}/charges", {"reference": f"{state}/1", "state": state, "value": 10.50}
        )
    account = ProviderAccount(
        account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f",
        provider_account=made["id"],
        credentials=made["token"],
    )
    return BankWorld(bare.url, control, account, session)
