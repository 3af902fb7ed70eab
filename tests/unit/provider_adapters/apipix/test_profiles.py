"""What each profile declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import PortCall, contradictions
from provider_adapters.apipix.profiles import PROFILES, Name

README = Path("provider_adapters/apipix/README.md").read_text(encoding="utf-8")
names = pytest.mark.parametrize("name", list(Name))


def test_every_name_has_its_profile():
    assert set(PROFILES) == set(Name)


@names
def test_a_profile_declares_nothing_that_cannot_be(name: Name):
    assert list(contradictions(PROFILES[name].capabilities)) == []


@names
def test_an_address_of_a_profile_is_a_host_of_its_environment(name: Name):
    profile = PROFILES[name]
    for urls in (profile.base_urls, profile.token_urls):
        for environment, url in urls.items():
            host = url.removeprefix("https://")
            assert profile.capabilities.hosts.environment_of(host) is environment


@names
def test_production_is_somewhere(name: Name):
    assert Environment.PRODUCTION in PROFILES[name].base_urls


@names
def test_nothing_probes_a_bank_that_wants_a_token_on_every_path(name: Name):
    assert PortCall.PROBE not in PROFILES[name].capabilities.calls


@names
def test_the_page_tells_of_a_profile(name: Name):
    assert f"`{name}`" in README
