"""Settings of API Pix: profile, hosts, secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.core.account import Environment
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from tests.world.banks.witness import Witness
from tests.world.tables import cases

SANDBOX = "https://pix-h.api.efipay.com.br"
PRODUCTION = "https://pix.api.efipay.com.br"


def made(environment: Environment = Environment.SANDBOX, **settings: object) -> object:
    context = AdapterContext(name="efi", environment=environment, observer=Witness())
    return ApiPixFactory()({"profile": "efi", **settings}, context)


@cases("settings", [{"profile": "itau"}, {"unknown": 1}, {"profile": None}])
def test_settings_are_read_strictly(settings: dict[str, object]):
    with pytest.raises(AdapterRefused):
        made(**settings)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_invalid_callback_authority_is_refused(tmp_path: Path, content: str | None):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)

    with pytest.raises(AdapterRefused, match="callback_authority") as refused:
        made(callback_authority=str(file))

    assert str(file) not in str(refused.value)
