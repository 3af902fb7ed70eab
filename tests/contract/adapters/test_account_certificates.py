"""An account's certificate on its whole way: entered, sealed, opened, shown to a bank, renewed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.app.banks import account_secrets, connect
from gateway.banks.connections import ConnectedBanks, paying_bank_of
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import (
    Accepted,
    Bank,
    CredentialsRefused,
    NotSent,
    Outcome,
    Unreachable,
)
from gateway.config.settings import Settings
from gateway.config.upstream import Provider, Tls
from gateway.core.account import Account
from gateway.core.clocks import Deadline
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.security.sealing import Sealer
from provider_adapters.kit.factory import AdapterRefused
from tests.world.banks.authority import EXPIRED, Authority
from tests.world.banks.scripted import Line, ScriptedBank, answer, standing
from tests.world.banks.witness import Witness
from tests.world.certified import registered
from tests.world.people import account

FAR = Deadline(10.0, lambda: 0.0)


@dataclass
class World:
    """A bank that asks for certificates, and the gateway's side of it."""

    authority: Authority
    settings: Settings
    bank: ScriptedBank
    seen: list[str]
    banks: ConnectedBanks | None = None
    sealer: Sealer = field(default_factory=lambda: Sealer({"k": b"k" * 32}, "k"))

    def given(self, name: str, *valid: object) -> dict[str, str]:
        pair = self.authority.pair(name, *valid)
        return {"client_id": f"id-{name}", "certificate": pair.certificate, "key": pair.key}

    def holding(self, given: dict[str, str] | None) -> Account:
        """Return an account as it is stored; None enters nothing."""
        at = dataclasses.replace(account(), provider="bank")
        if given is None:
            return dataclasses.replace(at, sealed_credentials=b"")
        read = account_secrets(self.settings, "bank", given)
        return dataclasses.replace(
            at,
            sealed_credentials=self.sealer.seal(read.text, at.id),
            certificate_ends_at=read.certificate_ends_at,
        )

    def of(self, held: Account) -> Bank:
        assert self.banks is not None
        return paying_bank_of(self.banks, held, PayoutMethod.PIX)

    async def pay(self, held: Account) -> Outcome:
        bank = self.of(held)
        order = PayoutOrder(
            provider_key="0" * 32,
            method=PayoutMethod.PIX,
            value=Money(100),
            destination=PixDestination(
                name="A", tax_number="52998224725", key_type=PixKeyType.EMAIL, key="a@b.example"
            ),
            description="",
        )
        return await bank.adapter.create_payout(bank.account, order, FAR)

    async def balance(self, held: Account) -> Money:
        bank = self.of(held)
        return (await bank.adapter.get_balance(bank.account)).balance


@pytest.fixture(params=["1.2", "1.3"])
async def world(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    registered(monkeypatch)
    seen: list[str] = []

    async def says(line: Line) -> None:
        subject = dict(part[0] for part in line.writer.get_extra_info("peercert")["subject"])
        seen.append(subject["commonName"])
        await line.say(answer(b'{"centavos": 700}'))

    authority, server = Authority(tmp_path), ScriptedBank(says, keeps=True)
    secure = authority.server(clients=authority, version=request.param)
    async with AsyncExitStack() as opened:
        await opened.enter_async_context(standing(server, ssl=secure))
        provider = Provider(
            adapter="certified",
            settings={"base_url": f"https://127.0.0.1:{server.port}"},
            tls=Tls(ca=str(authority.file)),
        )
        made = World(authority, Settings(providers={"bank": provider}), server, seen)
        connection = connect("bank", made.settings, Witness())
        await connection.adapter.start()
        opened.push_async_callback(connection.adapter.close)
        made.banks = ConnectedBanks({"bank": connection}, made.sealer.open)
        yield made


async def test_an_account_reads_and_pays_under_its_own_certificate(world: World):
    held = world.holding(world.given("one"))

    assert await world.balance(held) == Money(700)
    assert isinstance(await world.pay(held), Accepted)
    assert world.seen == ["one", "one"]


async def test_an_account_without_secrets_is_refused_before_its_bank_is_asked(world: World):
    """422 SVC.ACC.005."""
    with pytest.raises(ServiceError) as refused:
        world.of(world.holding(None))

    assert (refused.value.error.status, refused.value.error.code) == (422, "SVC.ACC.005")
    assert world.bank.connections == 0


async def test_with_an_expired_certificate_nothing_is_opened(world: World):
    """A payout is certainly not sent; a read is the 502 of its operation."""
    held = world.holding(world.given("old", EXPIRED))

    outcome = await world.pay(held)
    with pytest.raises(Unreachable) as failed:
        await world.balance(held)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.bytes_left) == ("certificate_expired", False)
    assert failed.value.reason == "certificate_expired"
    assert world.bank.connections == 0


async def test_a_new_certificate_is_shown_by_the_next_call(world: World):
    former, new = (world.holding(world.given(name)) for name in ("one", "two"))

    for held in (former, new, new):
        await world.balance(held)
    await world.pay(new)

    assert world.seen == ["one", "two", "two", "two"]


@pytest.mark.parametrize("stored", ["token-of-another-bank", "{}", json.dumps({"client_id": "id"})])
async def test_what_was_stored_for_another_bank_is_shown_to_nobody(world: World, stored: str):
    held = world.holding(None)
    held = dataclasses.replace(held, sealed_credentials=world.sealer.seal(stored, held.id))

    with pytest.raises(CredentialsRefused) as refused:
        world.of(held)

    assert refused.value.reason == "credentials_unfit"
    assert world.bank.connections == 0


async def test_one_account_s_bad_certificate_spares_the_others(world: World, tmp_path: Path):
    """Nobody is shut out by a breaker because an account of somebody else is refused."""
    bad = world.holding(world.given("old", EXPIRED))
    good = dataclasses.replace(bad, id="0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01")
    read = account_secrets(world.settings, "bank", world.given("good"))
    good = dataclasses.replace(good, sealed_credentials=world.sealer.seal(read.text, good.id))

    for _ in range(20):
        with pytest.raises(Unreachable):
            await world.balance(bad)

    assert await world.balance(good) == Money(700)
    assert isinstance(await world.pay(good), Accepted)


@pytest.mark.parametrize("lost", ["ca", "memory"])
async def test_what_all_accounts_need_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
):
    """With the path and the reason; no account has been asked for."""
    registered(monkeypatch)
    ca = tmp_path / "absent" if lost == "ca" else Authority(tmp_path).file
    if lost == "memory":
        monkeypatch.setattr("gateway.net.common.certificates._DESCRIPTORS", "/nowhere/fd")
    provider = Provider(
        adapter="certified", settings={"base_url": "https://localhost:1"}, tls=Tls(ca=str(ca))
    )
    connection = connect("bank", Settings(providers={"bank": provider}), Witness())

    with pytest.raises(AdapterRefused) as refused:
        await connection.adapter.start()

    place = "providers.bank.tls.ca: cannot be read" if lost == "ca" else "providers.bank: accounts"
    assert str(refused.value).startswith(place)
