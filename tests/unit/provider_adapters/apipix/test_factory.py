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


@cases("environment", list(Environment))
def test_a_profile_knows_its_hosts(environment: Environment):
    assert made(environment)


@cases(
    ("environment", "wrong"),
    [
        (Environment.SANDBOX, PRODUCTION),
        (Environment.PRODUCTION, SANDBOX),
        (Environment.PRODUCTION, "http://127.0.0.1:1"),
        (Environment.SANDBOX, "https://pix.example.com"),
    ],
)
def test_a_host_of_the_other_environment_is_refused_without_its_name(
    environment: Environment, wrong: str
):
    with pytest.raises(AdapterRefused, match=r"providers\.efi\.settings\.base_url") as refused:
        made(environment, base_url=wrong)

    assert wrong not in str(refused.value)


@cases("settings", [{"profile": "itau"}, {"unknown": 1}, {"profile": None}])
def test_settings_are_read_strictly(settings: dict[str, object]):
    with pytest.raises(AdapterRefused):
        made(**settings)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_wrong_authority_of_callbacks_is_refused(tmp_path: Path, content: str | None):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)

    with pytest.raises(AdapterRefused, match="callback_authority") as refused:
        made(callback_authority=str(file))

    assert str(file) not in str(refused.value)
