"""A provider's adapter, made from its part of the configuration."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from gateway.app.banks import account_secrets, connect
from gateway.app.commands.probes import unmakeable
from gateway.banks.checked_adapter import CheckedAdapter
from gateway.banks.client.transport import HttpTransport
from gateway.banks.followup_rate import FollowupRate
from gateway.banks.port.providers import ProviderAccount, Unreachable
from gateway.config.settings import Settings
from gateway.config.upstream import AccountLimits, Provider, Proxy, Tls
from gateway.core.account import BankSecretsRefused, Environment
from gateway.core.limits import CallRate
from provider_adapters.kit import settings as kit_settings
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.sandbox.adapter import SandboxAdapter
from tests.world.banks.authority import Authority
from tests.world.banks.witness import Witness
from tests.world.certified import registered

URL = {"base_url": "http://127.0.0.1:18090"}


def settings(**provider: object) -> Settings:
    return Settings(providers={"sandbox": Provider(**{"adapter": "sandbox", **provider})})


def made(configured: Settings) -> SandboxAdapter:
    checked = connect("sandbox", configured, Witness()).adapter
    assert isinstance(checked, CheckedAdapter)
    assert isinstance(checked.checked, SandboxAdapter)
    return checked.checked


def test_an_adapter_uses_its_provider_s_limits():
    adapter = made(settings(settings=URL, read_timeout_s=3.5, in_flight=7))

    limits = adapter.client._limits
    assert (limits.read_s, limits.bulkhead.in_flight) == (3.5, 7)


def test_limits_in_the_adapter_s_settings_take_precedence():
    adapter = made(settings(settings={**URL, "limits": {"read_s": 1.5}}, read_timeout_s=3.5))

    assert adapter.client._limits.read_s == 1.5


def test_an_adapter_uses_its_provider_s_tls_files():
    files = {"ca": "a.pem", "certificate": "c.pem", "key": "k.pem"}
    adapter = made(settings(settings=URL, tls=Tls(**files)))

    transport = adapter.client._transport
    assert isinstance(transport, HttpTransport)
    assert msgspec.to_builtins(transport._tls.files) == files


async def test_an_adapter_connects_through_its_proxy_and_counts_failed_look_ups(
    monkeypatch: pytest.MonkeyPatch,
):
    asked: list[str] = []

    def nobody(host: str, *_: object, **__: object) -> NoReturn:
        asked.append(host)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    seen = Witness()
    configured = settings(settings=URL, proxy=Proxy(url="http://proxy.invalid:3128"))
    checked = connect("sandbox", configured, seen).adapter
    assert isinstance(checked, CheckedAdapter)
    await checked.start()
    try:
        with pytest.raises(Unreachable) as failed:
            await checked.get_balance(ProviderAccount(account_id="acc", provider_account="1"))
    finally:
        await checked.close()

    assert failed.value.reason == "dns_failed"
    assert set(asked) == {"proxy.invalid"}
    assert ("look_up_failed", "sandbox") in seen.counts


@pytest.mark.parametrize("read_only", [True, False])
def test_a_provider_configured_as_read_only_is_read_only(read_only: bool):
    configured = settings(settings=URL, read_only=read_only)

    assert connect("sandbox", configured, Witness()).read_only is read_only


@pytest.mark.parametrize(
    "wrong", [{"adapter": "sandbux"}, {"settings": {"base_url": "http://example.com"}}], ids=str
)
def test_an_adapter_that_cannot_be_created_is_refused(wrong: dict[str, object]):
    with pytest.raises(AdapterRefused):
        connect("sandbox", settings(**wrong), Witness())


@pytest.mark.parametrize(
    ("environment", "url", "reason"),
    [
        (Environment.SANDBOX, "https://api.bank.example", "is the bank's production host"),
        (Environment.PRODUCTION, "https://sandbox.bank.example", "is the bank's sandbox host"),
        (Environment.PRODUCTION, "https://127.0.0.1:8443", "is this machine"),
        (Environment.SANDBOX, "https://elsewhere.example", "is no host of the bank"),
    ],
)
def test_a_host_of_the_other_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch, environment: Environment, url: str, reason: str
):
    """Before anything is opened: at startup, and by ``config check``."""
    registered(monkeypatch)
    provider = Provider(adapter="certified", settings={"base_url": url})
    configured = Settings(environment=environment, providers={"bank": provider})

    with pytest.raises(AdapterRefused) as refused:
        connect("bank", configured, Witness())

    assert str(refused.value).startswith(f"providers.bank.settings.base_url: {reason}")
    assert "example" not in str(refused.value)
    [(path, message)] = unmakeable(configured)
    assert (path, message.startswith(reason)) == ("providers.bank.settings.base_url", True)


@pytest.mark.parametrize("lost", ["ca", "memory"])
async def test_missing_common_credentials_are_refused_at_startup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
):
    """With the path and the reason, before any account is used."""
    registered(monkeypatch)
    ca = tmp_path / "absent" if lost == "ca" else Authority(tmp_path).file
    if lost == "memory":
        monkeypatch.setattr("gateway.net.common.certificates._DESCRIPTORS", "/nowhere/fd")
    url = {"base_url": "https://localhost:1"}
    bank = Provider(adapter="certified", settings=url, tls=Tls(ca=str(ca)))
    connection = connect("bank", Settings(providers={"bank": bank}), Witness())

    with pytest.raises(AdapterRefused) as refused:
        await connection.adapter.start()

    place = "providers.bank.tls.ca: cannot be read" if lost == "ca" else "providers.bank: accounts"
    assert str(refused.value).startswith(place)


def test_account_secrets_are_read_in_the_adapter_s_form(monkeypatch: pytest.MonkeyPatch):
    registered(monkeypatch)
    providers = {"bank": Provider(adapter="certified"), "sandbox": Provider(adapter="sandbox")}
    configured = Settings(providers=providers)

    assert account_secrets(configured, "sandbox", "token").text == "token"
    with pytest.raises(BankSecretsRefused):
        account_secrets(configured, "bank", "token")


def test_the_operator_s_limits_of_the_bank_reach_the_client():
    limits = AccountLimits(in_flight=1, rates={"*": CallRate(rate=1, burst=2), "get_key": None})

    adapter = made(settings(settings=URL, account_limits=limits))

    known = adapter.client._limits.account_limits
    assert (known.in_flight, known.rates["get_key"]) == (1, None)
    assert known.rates["*"] == kit_settings.CallRate(rate=1, burst=2)
    unbound = settings(settings=URL, account_limits=AccountLimits(in_flight=0))
    assert adapter.client.admission.bank_limits is not None
    assert made(unbound).client.admission.bank_limits is None


def test_a_rate_for_an_unknown_call_is_refused_with_a_suggestion():
    limits = AccountLimits(rates={"get_balances": CallRate(rate=1, burst=1)})

    with pytest.raises(AdapterRefused, match=r"sandbox\.account_limits\.rates: .* 'get_balance'"):
        made(settings(settings=URL, account_limits=limits))


def test_the_follow_up_rate_is_a_share_of_adapter_and_configured_limits():
    """Rates of calls that the follow-up never makes do not count."""
    cases = [
        ("sandbox", {}, FollowupRate(at_once=16, of_account=4)),
        ("sandbox", {"account_limits": AccountLimits(in_flight=0)}, FollowupRate(at_once=16)),
        ("sandbox", {"in_flight": 3}, FollowupRate(at_once=1, of_account=1)),
        (
            "sandbox",
            {
                "account_limits": AccountLimits(
                    in_flight=8,
                    rates={
                        "find_payout": CallRate(rate=40, burst=40),
                        "get_balance": CallRate(rate=1, burst=1),
                    },
                )
            },
            FollowupRate(at_once=16, of_account=2, per_s=4.0),
        ),
        ("woovi", {}, FollowupRate(at_once=16, of_account=4, per_s=1.0)),
        ("asaas", {}, FollowupRate(at_once=16, of_account=4)),
    ]

    for adapter, more, rate in cases:
        one = Provider(**{"adapter": adapter, "settings": URL, **more})

        connection = connect("bank", Settings(providers={"bank": one}), Witness())

        assert connection.rate == rate
