"""A bank whose clock stands still and whose randomness counts."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from provider_adapters.testing.bank import accounts, received_payments
from provider_adapters.testing.bank.accounts import Account, PayoutKind
from provider_adapters.testing.bank.books import Books, open_books
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.payouts import Order
from provider_adapters.testing.bank.received_payments import Payment
from provider_adapters.testing.sandbox import SandboxBank

START = datetime(2026, 11, 20, 13, 40, 11, 123456, tzinfo=UTC)


@dataclass
class StillClock:
    """A wall clock that moves when told."""

    moment: datetime = START

    def __call__(self) -> datetime:
        return self.moment

    def move(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def counting() -> Callable[[int], str]:
    """Hexadecimal text that is different each time and the same in each test."""
    numbers = itertools.count(1)
    return lambda size: f"{next(numbers):0{2 * size}x}"


@pytest.fixture
def wall() -> StillClock:
    return StillClock()


@pytest.fixture
def books(tmp_path: Path, wall: StillClock) -> Iterator[Books]:
    kept = open_books(
        str(tmp_path / "bank.db"), now=wall, random_hex=counting(), settle_after_s=0.3
    )
    yield kept
    kept.database.close()


@pytest.fixture
def open_account(books: Books) -> Callable[..., Account]:
    """Open an account with some centavos in it."""

    def opened(
        account_id: str = "cc_1", centavos: int = 1_000_000_00, token: str = "", **other: object
    ) -> Account:
        fields = {
            "id": account_id,
            "name": "Loja Exemplo",
            "tax_number": "11222333000181",
            "branch": "0001",
            "number": f"{account_id}-7",
            "city": "São Paulo",
            "zip_code": "01310-100",
            "payout_kind": PayoutKind.IDEM,
            "created_at": books.clock.micros(),
        }
        account = Account(**{**fields, **other})
        accounts.add(books, account, token or f"token of {account_id}")
        if centavos:
            at = books.clock.micros()
            payment = Payment(
                account_id=account_id, centavos=centavos, at=at, e2e_id=books.e2e_id(at)
            )
            received_payments.receive(books, payment)
        return account

    return opened


@pytest.fixture
def account(open_account: Callable[..., Account]) -> Account:
    return open_account()


@pytest.fixture
def order() -> Callable[..., Order]:
    """An order of so many centavos, to a key outside."""

    def made(centavos: int = 10_50, key: str | None = "pk-1", **to: str) -> Order:
        fields = {"key": "maria@example.com", "tax_number": "52998224725", "sent": "{}", **to}
        return Order(centavos=centavos, to=Destination(**fields), idempotency_key=key)

    return made


@pytest.fixture(autouse=True)
def balanced_in_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test did to the books: they balance."""
    kept = request.getfixturevalue("books") if "books" in request.fixturenames else None
    yield
    if kept is not None:
        assert accounts.balanced(kept.database)


@dataclass
class Caller:
    """A customer of a running bank, with its control interface."""

    bank: SandboxBank
    session: aiohttp.ClientSession
    account: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.bank.port}/v1/contas/{self.account['id']}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.account['token']}"}

    async def ask(self, method: str, path: str, **more: object) -> tuple[int, object]:
        """Call the bank as the customer; the path is sent as it stands."""
        headers = {**self.headers, **more.pop("headers", {})}
        url = URL(self.url + path, encoded=True)
        async with self.session.request(method, url, headers=headers, **more) as answer:
            return answer.status, await answer.json()

    async def control(self, method: str, path: str, **more: object) -> tuple[int, object]:
        """Call the control interface; the path is sent as it stands."""
        url = URL(f"http://127.0.0.1:{self.bank.control_port}/control{path}", encoded=True)
        async with self.session.request(method, url, **more) as answer:
            return answer.status, await answer.json()

    async def calls(self) -> list[dict[str, object]]:
        """What the bank was asked so far, answered or not."""
        _, found = await self.control("GET", "/calls")
        return found["data"]

    async def pay_out(
        self, centavos: int, key: str = "pk-1", **destination: str
    ) -> tuple[int, object]:
        """Order a payout to a PIX key outside."""
        to = {
            "forma": "chave",
            "tipo_chave": "email",
            "chave": "maria@example.com",
            "documento": "52998224725",
            **destination,
        }
        body = {"valor_centavos": centavos, "descricao": "", "destino": to}
        headers = {"Idempotency-Key": key}
        return await self.ask("POST", "/transferencias", json=body, headers=headers)

    async def executions(self, key: str = "pk-1") -> list[dict[str, object]]:
        """What the bank really executed of an idempotency key."""
        _, found = await self.control("GET", f"/executions?key={key}")
        return found["data"]


Opener = Callable[..., Awaitable[SandboxBank]]


@pytest.fixture
async def run_bank(tmp_path: Path, wall: StillClock) -> AsyncIterator[Opener]:
    """Start banks on the test's file; all are closed in the end."""
    started: list[SandboxBank] = []

    async def run(**settings: object) -> SandboxBank:
        fields = {"db_path": str(tmp_path / "served.db"), "port": 0, "control_port": 0, "now": wall}
        bank = SandboxBank(**{**fields, **settings})
        await bank.start()
        started.append(bank)
        return bank

    yield run
    for bank in started:
        await bank.close()


@pytest.fixture
async def caller(run_bank: Opener) -> AsyncIterator[Caller]:
    bank = await run_bank()
    async with aiohttp.ClientSession() as session:
        one = Caller(bank, session)
        body = {"name": "Loja Exemplo", "tax_number": "11222333000181", "balance": 100000.00}
        _, account = await one.control("POST", "/accounts", json=body)
        one.account = account
        yield one
