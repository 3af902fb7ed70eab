"""The bank behind an account."""

from __future__ import annotations

import dataclasses
from base64 import b64decode

import msgspec
import pytest

from gateway.banks.connections import ConfiguredProvider, ConnectedBanks, limits_of, proxy_of
from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.providers import CredentialsRefused
from gateway.config.upstream import AccountLimits, Breaker, Provider, Proxy
from gateway.config.values import Secret
from gateway.security.sealing import SealBroken
from provider_adapters.kit.limits import ClientLimits
from tests.world.payouts import CAREFUL, ScriptedBank
from tests.world.people import account


def banks(*, read_only: bool = False, payouts: bool = True) -> ConnectedBanks:
    """One provider, called ``sandbox``."""
    bank = ScriptedBank()
    bank.capabilities = CAREFUL if payouts else Capabilities()
    connections = {"sandbox": ConfiguredProvider(bank, read_only)}
    return ConnectedBanks(connections, lambda sealed, bound_to: f"{sealed.decode()} of {bound_to}")


def test_an_account_is_found_at_its_provider():
    """With the provider's own name, and credentials opened for this account only."""
    held = dataclasses.replace(account(), sealed_credentials=b"token")

    bank = banks().of(held)

    assert bank is not None
    assert (bank.name, bank.account.provider_account) == ("sandbox", "conta-1")
    assert (bank.account.account_id, bank.account.credentials) == (held.id, f"token of {held.id}")


def test_an_account_may_have_no_credentials():
    """Then nothing is opened."""
    bank = banks().of(account())

    assert bank is not None
    assert bank.account.credentials == ""


@pytest.mark.parametrize("provider", ["", "another"])
def test_an_unconfigured_provider_is_none(provider: str):
    assert banks().of(dataclasses.replace(account(), provider=provider)) is None


@pytest.mark.parametrize(
    ("read_only", "payouts", "expected"),
    [(False, True, False), (True, True, True), (False, False, True), (True, False, True)],
)
def test_a_bank_is_read_only_by_configuration_or_capability(
    read_only: bool, payouts: bool, expected: bool
):
    bank = banks(read_only=read_only, payouts=payouts).of(account())

    assert bank is not None
    assert bank.pays is not expected


def test_a_provider_s_limits_are_passed_to_its_adapter():
    """Every one of them."""
    provider = Provider(
        adapter="sandbox",
        connect_timeout_s=1,
        first_byte_timeout_s=1.5,
        read_timeout_s=2,
        payout_timeout_s=3,
        in_flight=4,
        waiting=5,
        waiting_s=6,
        breaker=Breaker(
            consecutive=7, share=0.8, calls=9, open_s=10, longest_open_s=11, whole_bank=False
        ),
    )

    limits = msgspec.convert(limits_of(provider), ClientLimits)

    assert (limits.connect_s, limits.read_s, limits.payout_s) == (1, 2, 3)
    assert limits.first_byte_s == 1.5
    held = limits.bulkhead
    assert (held.in_flight, held.waiting, held.wait_s) == (4, 5, 6)
    assert msgspec.to_builtins(limits.breaker) == msgspec.to_builtins(provider.breaker)


def test_a_proxy_user_and_password_become_basic_authorization():
    given = Proxy(url="http://[::1]:3128", user="nós", password=Secret("a:b"))

    proxy = proxy_of(Provider(adapter="sandbox", proxy=given))

    assert proxy is not None
    assert (proxy.host, proxy.port) == ("::1", 3128)
    assert b64decode(proxy.authorization.removeprefix("Basic ")).decode() == "nós:a:b"


def test_a_proxy_may_have_no_user():
    proxy = proxy_of(Provider(adapter="sandbox", proxy=Proxy(url="http://proxy.example:3128")))

    assert proxy is not None
    assert proxy.authorization == ""
    assert proxy_of(Provider(adapter="sandbox")) is None


@pytest.mark.parametrize(("said", "most"), [(None, 16), (40, 40), (0, 0)])
def test_an_account_may_use_a_quarter_of_the_calls_in_flight_by_default(
    said: int | None, most: int
):
    provider = Provider(adapter="sandbox", account_limits=AccountLimits(in_flight=said))

    assert msgspec.convert(limits_of(provider), ClientLimits).account_in_flight == most


def test_no_first_byte_timeout_is_set_by_default():
    limits = msgspec.convert(limits_of(Provider(adapter="sandbox")), ClientLimits)

    assert limits.first_byte_s is None


def test_unreadable_credentials_are_refused():
    """Reads are answered 502, payouts are certainly not sent; the caller is not at fault."""

    def broken(_sealed: bytes, _bound_to: str) -> str:
        raise SealBroken

    found = ConnectedBanks({"sandbox": ConfiguredProvider(ScriptedBank(), read_only=False)}, broken)

    with pytest.raises(CredentialsRefused, match="seal_broken"):
        found.of(dataclasses.replace(account(), sealed_credentials=b"?"))


def counting() -> tuple[ConnectedBanks, list[bytes]]:
    opened: list[bytes] = []

    def unseal(sealed: bytes, bound_to: str) -> str:
        opened.append(sealed)
        return f"{sealed.decode()} of {bound_to}"

    return ConnectedBanks(
        {"sandbox": ConfiguredProvider(ScriptedBank(), read_only=False)}, unseal
    ), opened


def test_credentials_are_opened_once():
    """For as long as the record is cached."""
    found, opened = counting()
    held = dataclasses.replace(account(), sealed_credentials=b"1")

    bank = found.of(held)

    assert found.of(held) is bank
    assert opened == [b"1"]


def test_each_process_opens_the_credentials_of_an_account_itself():
    """Such as a command with its own providers."""
    (one, _), (other, _) = counting(), counting()
    held = dataclasses.replace(account(), sealed_credentials=b"1")

    assert one.of(held) is not other.of(held)


@pytest.mark.parametrize(
    "changed",
    [{"sealed_credentials": b"2"}, {"provider_account": "conta-2"}, {"provider": "another"}],
    ids=str,
)
def test_a_changed_account_record_takes_effect_at_once(changed: dict[str, object]):
    """After a rotation the old credentials are no longer used."""
    found, _ = counting()
    held = dataclasses.replace(account(), sealed_credentials=b"1")
    former = found.of(held)

    now = found.of(dataclasses.replace(held, **changed))

    assert former is not None
    assert now is None or now.account != former.account


def test_credentials_are_bound_to_their_account():
    """The same sealed bytes under another id belong to that id."""
    found, opened = counting()
    held = dataclasses.replace(account(), sealed_credentials=b"1")
    other = dataclasses.replace(held, id="00000000-0000-4000-8000-00000000000f")

    banks_of_both = found.of(held), found.of(other)

    assert [bank.account.credentials for bank in banks_of_both if bank] == [
        f"1 of {held.id}",
        f"1 of {other.id}",
    ]
    assert opened == [b"1", b"1"]


def test_account_secrets_are_decoded_once():
    """The text is not kept as well."""
    opened: list[str] = []

    def struct(text: str) -> object:
        opened.append(text)
        return {"client_id": text}

    connection = ConfiguredProvider(ScriptedBank(), read_only=False, open_secrets=struct)
    found = ConnectedBanks({"sandbox": connection}, lambda sealed, _: sealed.decode())
    held = dataclasses.replace(account(), sealed_credentials=b"{}")

    banks = [found.of(held), found.of(held)]

    assert opened == ["{}"]
    for bank in banks:
        assert bank is not None
        assert (bank.account.secrets, bank.account.credentials) == ({"client_id": "{}"}, "")
        assert not bank.lacks_credentials


def test_an_account_without_required_secrets_lacks_credentials():
    bank = ScriptedBank()
    bank.capabilities = Capabilities(account_credentials=True)
    connection = ConfiguredProvider(bank, read_only=False, open_secrets=lambda text: text)

    found = ConnectedBanks({"sandbox": connection}, lambda *_: "").of(account())

    assert found is not None
    assert found.account.secrets is None
    assert found.lacks_credentials
