"""Settings of an adapter."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from gateway.banks.port.capabilities import Hosts
from gateway.core.account import Environment
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.kit.settings import address_of, loopback_of, settings_of
from tests.world.tables import cases

SANDBOX = Environment.SANDBOX


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    base_url: str
    secret: int = 0
    profile: Literal["efi", "inter"] = "efi"


def test_settings_are_read_into_their_struct():
    assert settings_of("bank", Settings, {"base_url": "x"}) == Settings("x")


@cases(
    ("given", "path"),
    [
        ({}, "settings: Object missing required field `base_url`"),
        ({"base_url": 1}, "settings.base_url: Expected `str`, got `int`"),
        ({"base_url": "", "url": ""}, "settings: Object contains unknown field `url`"),
    ],
)
def test_a_settings_error_is_reported_with_its_path(given: dict[str, object], path: str):
    with pytest.raises(AdapterRefused) as refused:
        settings_of("bank", Settings, given)

    assert str(refused.value) == f"providers.bank.{path}"


@cases("field", ["secret", "profile"])
def test_a_settings_error_does_not_quote_the_value(field: str):
    with pytest.raises(AdapterRefused, match=rf"providers\.bank\.settings\.{field}: ") as refused:
        settings_of("bank", Settings, {"base_url": "", field: "canary"})

    assert "canary" not in str(refused.value)


def test_an_address_of_the_other_environment_is_refused_with_its_path():
    """Its value may name a customer: only the path and the reason are reported."""
    hosts = Hosts(production=frozenset({"api.canary.example"}))

    with pytest.raises(AdapterRefused) as refused:
        address_of(
            "providers.x.settings.url", "https://api.canary.example/customer", SANDBOX, hosts
        )

    assert str(refused.value) == (
        "providers.x.settings.url: is the bank's production host, and the environment is sandbox"
    )


def test_an_address_of_the_same_environment_is_accepted():
    hosts = Hosts(sandbox=frozenset({"h.example"}))

    assert address_of("x", "https://h.example/v1/", SANDBOX, hosts) == "https://h.example/v1"


def test_only_a_loopback_address_is_accepted_for_the_sandbox_bank():
    place = "providers.bank.settings.base_url"

    assert loopback_of(place, "http://127.0.0.1:8090/") == "http://127.0.0.1:8090"
    with pytest.raises(AdapterRefused, match=place) as refused:
        loopback_of(place, "http://bank.example")
    assert "bank.example" not in str(refused.value)
