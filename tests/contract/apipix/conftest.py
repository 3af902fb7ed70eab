"""Simulators with what was asked and answered kept, our adapter, and Efí's SDK in a thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from efipay import EfiPay
from efipay.constants import Constants

from gateway.banks.port.providers import ProviderAccount
from gateway.core.account import Environment
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.apipix.secrets import EfiSecrets
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.secrets import secrets_of
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.dialect import BankRequest, Dialect, Row
from provider_adapters.testing.bank.messages import Answer, Refusal
from provider_adapters.testing.stages import EfiStage
from tests.world.banks.witness import Witness


@dataclass(frozen=True)
class Exchange:
    """A request and its answer, before they are written."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    status: int
    answer: object

    @property
    def document(self) -> Any:
        """What was asked, as JSON; None without a body."""
        return json.loads(self.body) if self.body else None

    @property
    def written(self) -> bytes:
        """The answer's body; nothing is sent with 204."""
        if self.answer is None or isinstance(self.answer, bytes):
            return self.answer or b""
        return json.dumps(self.answer).encode()


class WatchedStage(EfiStage):
    """Efí, or another bank, as it is simulated; ``exchanges`` has what was asked of it."""

    def __init__(self, name: Name = Name.EFI) -> None:
        super().__init__()
        self.profile, self.account_secrets = name, PROFILES[name].secrets
        self.exchanges: list[Exchange] = []
        self.bare: Dialect = simulators.find(name).dialect
        self.dialect: Dialect = replace(
            self.bare, rows=[self._watched(row) for row in self.bare.rows]
        )

    def _watched(self, row: Row) -> Row:
        def run(request: BankRequest) -> Answer:
            try:
                answer = row.answer(request)
            except Refusal as refusal:
                self._keep(request, self.bare.refusal(refusal))
                raise
            self._keep(request, answer)
            return answer

        return replace(row, run=run)

    def _keep(self, request: BankRequest, answer: Answer) -> None:
        kept = Exchange(
            method=request.method,
            path=request.target.partition("?")[0],
            query=dict(request.query),
            headers=dict(request.headers),
            body=request.raw,
            status=answer.status,
            answer=answer.document,
        )
        self.exchanges.append(kept)


@dataclass(frozen=True)
class Watched:
    """An account at a simulated bank, as our adapter and Efí's SDK know it."""

    stage: WatchedStage
    adapter: ApiPixAdapter
    sdk: EfiPay | None = None

    @property
    def account(self) -> ProviderAccount:
        return self.stage.accounts[0]

    @property
    def key(self) -> str:
        return self.stage.own_key(self.account)

    def asked(self) -> list[Exchange]:
        """Return what the bank was asked since the last time, tokens left out."""
        seen = [each for each in self.stage.exchanges if each.path != self.stage.token_path]
        self.stage.exchanges.clear()
        return seen

    async def by_sdk(self, name: str, **given: object) -> Any:
        """Call the SDK, which waits for its answers, in a thread."""
        return await asyncio.to_thread(getattr(self.sdk, name), **given)


@asynccontextmanager
async def simulated(name: Name = Name.EFI) -> AsyncIterator[tuple[WatchedStage, ApiPixAdapter]]:
    """Run a bank's simulator, and our adapter before it."""
    stage = WatchedStage(name)
    try:
        await stage.start()
        context = AdapterContext(name=name, environment=Environment.SANDBOX, observer=Witness())
        adapter = ApiPixFactory()(stage.settings(stage.address), context)
        await adapter.start()
        try:
            yield stage, adapter
        finally:
            await adapter.close()
    finally:
        await stage.close()


@pytest.fixture
async def efi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watched]:
    async with simulated() as (stage, adapter):
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(stage.bank.authority_file))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setitem(Constants.APIS["PIX"]["URL"], "sandbox", stage.address)
        yield Watched(stage, adapter, sdk_of(stage, tmp_path))


def sdk_of(stage: EfiStage, folder: Path) -> EfiPay:
    """Give the SDK the account's own id, secret and certificate; it takes a file only."""
    known = secrets_of(stage.accounts[0], EfiSecrets)
    pair = folder / "certificate.pem"
    pair.write_text(f"{known.certificate}\n{known.key}", encoding="ascii")
    options = {"client_id": known.client_id, "client_secret": known.client_secret}
    return EfiPay({**options, "sandbox": True, "certificate": str(pair)})
