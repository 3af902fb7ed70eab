"""The simulated Woovi in this process, with an account that has money and a key."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from provider_adapters.testing.bank.control.client import BankControl
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.woovi.dialect import WOOVI


@dataclass(frozen=True)
class World:
    """A customer of the bank, asking as one; ``control`` is the other side."""

    url: str
    account: str
    app_id: str
    session: aiohttp.ClientSession
    control: BankControl

    async def ask(
        self, method: str, path: str, document: object | None = None, app_id: str | None = None
    ) -> tuple[int, Any]:
        """Return status and document of an answer."""
        headers = {"Authorization": self.app_id if app_id is None else app_id}
        where = f"{self.url}/api/v1{path}"
        async with self.session.request(method, where, json=document, headers=headers) as answer:
            raw = await answer.read()
            return answer.status, json.loads(raw) if raw else None

    async def passes(self, seconds: float) -> None:
        """Move the bank's clock."""
        await self.control.post("clock", body={"offset_s": seconds})


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A bank with one account."""
    path = str(tmp_path / "bank.db")
    bank = SimulatedBank(dialect=WOOVI, db_path=path, port=0, control_port=0, settle_after_s=1.0)
    await bank.start()
    try:
        async with (
            BankControl(f"http://127.0.0.1:{bank.control_port}") as control,
            aiohttp.ClientSession() as session,
        ):
            body = {"name": "Loja", "tax_number": "11222333000181", "balance": 10000}
            made = await control.post("accounts", body=body)
            key = {"type": "email", "key": "loja@example.com"}
            await control.post("accounts", made["id"], "keys", body=key)
            url, app_id = f"http://127.0.0.1:{bank.port}", made["credentials"]["app_id"]
            yield World(url, made["id"], app_id, session, control)
    finally:
        await bank.close()
