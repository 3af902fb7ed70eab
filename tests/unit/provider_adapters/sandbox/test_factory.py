"""The factory of sandbox adapters."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.providers import Repeat
from provider_adapters._shared.factory import AdapterRefused
from provider_adapters.sandbox.factory import SandboxFactory
from tests.unit.provider_adapters.authority import VALID, Authority
from tests.unit.provider_adapters.witness import Witness

SANDBOX = Environment.SANDBOX


def test_it_is_never_made_in_production():
    with pytest.raises(AdapterRefused, match=r"providers\.bank"):
        SandboxFactory()("bank", {}, Environment.PRODUCTION, Witness())


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:8090", "http://bank.example", "http://u:p@127.0.0.1", "8090"]
)
def test_its_bank_is_on_this_machine(url: str):
    with pytest.raises(AdapterRefused, match="base_url"):
        SandboxFactory()("bank", {"base_url": url}, SANDBOX, Witness())


def test_unknown_settings_are_refused():
    with pytest.raises(AdapterRefused, match="base_ulr"):
        SandboxFactory()("bank", {"base_ulr": "http://127.0.0.1"}, SANDBOX, Witness())


def test_settings_lessen_what_it_declares():
    adapter = SandboxFactory()("bank", {"repeat": "refuses"}, SANDBOX, Witness())

    assert adapter.capabilities.repeat is Repeat.REFUSES


async def test_when_our_certificate_ends_is_told_under_the_provider_s_name(tmp_path: Path):
    """Long before payouts stop."""
    authority, witness = Authority(tmp_path), Witness()
    tls = {"ca": str(authority.file), "certificate": str(authority.sign("we", VALID))}
    settings = {"base_url": "https://127.0.0.1:1", "tls": tls}
    adapter = SandboxFactory()("bank", settings, SANDBOX, witness)

    await adapter.start()
    await adapter.close()

    assert witness.certificates == [("bank", VALID[1].replace(microsecond=0))]
