"""A provider's adapter, made from its part of the configuration."""

from __future__ import annotations

import msgspec
import pytest

from gateway.app.build_bank import connect
from gateway.config.settings import Settings
from gateway.config.upstream import Provider, Tls
from gateway.net.client.transport import HttpTransport
from gateway.operations.bank.checked_adapter import CheckedAdapter
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.sandbox.adapter import SandboxAdapter
from tests.unit.provider_adapters.witness import Witness

URL = {"base_url": "http://127.0.0.1:18090"}


def settings(**provider: object) -> Settings:
    return Settings(providers={"sandbox": Provider(**{"adapter": "sandbox", **provider})})


def made(configured: Settings) -> SandboxAdapter:
    checked = connect("sandbox", configured, Witness()).adapter
    assert isinstance(checked, CheckedAdapter)
    assert isinstance(checked.checked, SandboxAdapter)
    return checked.checked


def test_it_works_under_the_provider_s_limits():
    adapter = made(settings(settings=URL, read_timeout_s=3.5, in_flight=7))

    limits = adapter.client._limits
    assert (limits.read_s, limits.bulkhead.in_flight) == (3.5, 7)


def test_limits_of_its_own_win():
    adapter = made(settings(settings={**URL, "limits": {"read_s": 1.5}}, read_timeout_s=3.5))

    assert adapter.client._limits.read_s == 1.5


def test_it_shows_and_trusts_the_provider_s_files():
    files = {"ca": "a.pem", "certificate": "c.pem", "key": "k.pem"}
    adapter = made(settings(settings=URL, tls=Tls(**files)))

    transport = adapter.client._transport
    assert isinstance(transport, HttpTransport)
    assert msgspec.to_builtins(transport._tls.files) == files


@pytest.mark.parametrize("read_only", [True, False])
def test_the_operator_s_word_on_payouts_is_kept(read_only: bool):
    configured = settings(settings=URL, read_only=read_only)

    assert connect("sandbox", configured, Witness()).read_only is read_only


@pytest.mark.parametrize(
    "wrong", [{"adapter": "sandbux"}, {"settings": {"base_url": "http://example.com"}}], ids=str
)
def test_what_cannot_be_made_is_refused(wrong: dict[str, object]):
    with pytest.raises(AdapterRefused):
        connect("sandbox", settings(**wrong), Witness())
