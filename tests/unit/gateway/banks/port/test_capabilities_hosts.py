"""The hosts of a bank."""

from __future__ import annotations

from gateway.banks.port.capabilities import Hosts
from gateway.core.account import Environment

HOSTS = Hosts(production=frozenset({"p.example"}), sandbox=frozenset({"s.example"}))


def test_each_environment_has_its_own():
    assert HOSTS.of(Environment.PRODUCTION) == {"p.example"}
    assert HOSTS.of(Environment.SANDBOX) == {"s.example"}


def test_a_host_is_of_one_environment_or_of_none():
    found = {host: HOSTS.environment_of(host) for host in ("p.example", "s.example", "x.example")}

    assert found == {
        "p.example": Environment.PRODUCTION,
        "s.example": Environment.SANDBOX,
        "x.example": None,
    }
