"""Where a provider may live."""

from __future__ import annotations

import ipaddress

import pytest

from gateway.banks.client.addresses import (
    AddressRefused,
    Flaw,
    bank_address,
    is_public,
    loopback_address,
    require_public,
)
from gateway.banks.port.capabilities import Hosts
from gateway.core.account import Environment

PRODUCTION = Environment.PRODUCTION
SANDBOX = Environment.SANDBOX
HOSTS = Hosts(
    production=frozenset({"api.bank.example"}), sandbox=frozenset({"sandbox.bank.example"})
)


def bank(text: str, environment: Environment) -> str:
    """Return the address that is called, or why none is."""
    try:
        return bank_address(text, environment, HOSTS)
    except AddressRefused as refused:
        return str(refused)


def test_loopback_addresses_are_accepted():
    ours = ("http://127.0.0.1:8090", "http://[::1]:1", "http://localhost", "http://127.9.9.9")

    assert [loopback_address(text) for text in ours] == list(ours)


@pytest.mark.parametrize(
    "text", ["http://0.0.0.0", "http://10.0.0.1", "http://bank.example", "http://localhost.evil.io"]
)
def test_other_addresses_are_not_loopback(text: str):
    with pytest.raises(AddressRefused):
        loopback_address(text)


def test_public_addresses_are_distinguished_from_private_ones():
    expected = {
        "200.160.2.3": True,
        "8.8.8.8": True,
        "10.0.0.1": False,
        "127.0.0.1": False,
        "169.254.169.254": False,
        "100.64.0.1": False,
        "::1": False,
        "fe80::1": False,
        "fd00::1": False,
        "::ffff:10.0.0.1": False,
        "2804:14d::1": True,
        "224.0.0.1": False,
        "64:ff9b::7f00:1": False,
        "64:ff9b::808:808": True,
        "2002:7f00:1::": False,
        "2002:808:808::": True,
        "::10.0.0.1": False,
        "::ffff:0:10.0.0.1": False,
        "64:ff9b:1::a00:1": False,
        "fec0::1": False,
        "4000::1": False,
        "5f00::1": False,
        "3fff::1": False,
        "2001:db8::1": False,
        "2001:0:a00:1::1": False,
        "192.0.0.192": False,
        "192.88.99.1": False,
    }

    assert {text: is_public(ipaddress.ip_address(text)) for text in expected} == expected


def test_a_name_with_a_private_address_is_refused():
    """Even among public addresses: the connector would try them all."""
    with pytest.raises(OSError, match="private"):
        require_public(["8.8.8.8", "192.168.0.1"])


def test_a_name_with_public_addresses_is_accepted():
    require_public(["8.8.8.8", "2606:4700::1"])


def test_a_bank_host_of_the_other_environment_is_refused():
    expected = [
        ("https://api.bank.example", SANDBOX, Flaw.PRODUCTION_HOST),
        ("https://API.bank.example./v1", SANDBOX, Flaw.PRODUCTION_HOST),
        ("https://sandbox.bank.example:8443", PRODUCTION, Flaw.SANDBOX_HOST),
        ("https://bank.example", SANDBOX, Flaw.UNKNOWN_HOST),
        ("https://bank.example", PRODUCTION, Flaw.UNKNOWN_HOST),
        ("https://api.bank.example.evil.example", PRODUCTION, Flaw.UNKNOWN_HOST),
        ("https://10.0.0.1", SANDBOX, Flaw.UNKNOWN_HOST),
        ("http://127.0.0.1:8100", PRODUCTION, Flaw.THIS_MACHINE),
        ("https://localhost", PRODUCTION, Flaw.THIS_MACHINE),
        ("https://[::1]", PRODUCTION, Flaw.THIS_MACHINE),
        ("http://api.bank.example", PRODUCTION, Flaw.NOT_HTTPS),
        ("http://sandbox.bank.example", SANDBOX, Flaw.NOT_HTTPS),
        ("https://user:secret@api.bank.example", PRODUCTION, Flaw.CREDENTIALS),
        ("https://api.bank.example/?a=b", PRODUCTION, Flaw.QUERY),
        ("https://api.bank.example/#a", PRODUCTION, Flaw.QUERY),
        ("ftp://api.bank.example", PRODUCTION, Flaw.NOT_HTTP),
        ("api.bank.example", PRODUCTION, Flaw.NOT_HTTP),
        ("https://", PRODUCTION, Flaw.NOT_HTTP),
        ("https://[::1", PRODUCTION, Flaw.NO_ADDRESS),
        ("https://api.bank.example:99999", PRODUCTION, Flaw.NO_ADDRESS),
    ]

    assert [(text, at, bank(text, at)) for text, at, _ in expected] == expected


def test_only_the_bank_s_own_hosts_and_a_simulator_are_called():
    expected = [
        ("https://api.bank.example/v1/", PRODUCTION, "https://api.bank.example/v1"),
        ("https://sandbox.bank.example", SANDBOX, "https://sandbox.bank.example"),
        ("http://127.0.0.1:8100/", SANDBOX, "http://127.0.0.1:8100"),
        ("https://localhost:8443", SANDBOX, "https://localhost:8443"),
        ("http://[::1]:8100", SANDBOX, "http://[::1]:8100"),
    ]

    assert [(text, at, bank(text, at)) for text, at, _ in expected] == expected
