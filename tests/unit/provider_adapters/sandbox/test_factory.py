"""The factory of sandbox adapters."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.core.account import Environment
from provider_adapters.kit.factory import AdapterRefused
from tests.unit.provider_adapters.sandbox.making import made
from tests.world.banks.authority import VALID, Authority
from tests.world.banks.witness import Witness
from tests.world.tables import cases


def test_the_sandbox_adapter_is_refused_in_production():
    with pytest.raises(AdapterRefused, match=r"providers\.bank"):
        made({}, Environment.PRODUCTION)


@cases("url", ["http://10.0.0.1:8090", "http://bank.example", "http://u:p@127.0.0.1", "8090"])
def test_the_sandbox_bank_must_be_on_this_machine(url: str):
    with pytest.raises(AdapterRefused, match="base_url"):
        made({"base_url": url})


async def test_the_end_of_our_certificate_is_reported_under_the_provider_s_name(tmp_path: Path):
    """Long before payouts stop."""
    authority, witness = Authority(tmp_path), Witness()
    tls = {"ca": str(authority.file), "certificate": str(authority.sign("we", VALID))}
    settings = {"base_url": "https://127.0.0.1:1", "tls": tls}
    adapter = made(settings, observer=witness)

    await adapter.start()
    await adapter.close()

    assert witness.certificates == [("bank", VALID[1].replace(microsecond=0))]
