"""What each profile declares."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import pytest

from gateway.banks.port.capabilities import (
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
    contradictions,
)
from gateway.banks.port.provider_callbacks import CallbackSecrets, ProofRefused
from gateway.banks.port.providers import ProviderAccount
from gateway.core.account import Environment
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.callbacks import step_of
from provider_adapters.apipix.charges import DUE, IMMEDIATE
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.apipix.profiles import PROFILES, STANDARD_CALLS, Name
from provider_adapters.kit.factory import AdapterContext
from tests.world.banks.authority import Authority
from tests.world.banks.witness import Witness
from tests.world.tables import cases

README = Path("provider_adapters/apipix/README.md").read_text(encoding="utf-8")
names = pytest.mark.parametrize("name", list(Name))


def test_every_profile_name_has_a_profile():
    assert set(PROFILES) == set(Name)


@names
def test_no_profile_declares_contradictory_capabilities(name: Name):
    assert list(contradictions(PROFILES[name].capabilities)) == []


@names
def test_each_profile_address_belongs_to_its_environment(name: Name):
    profile = PROFILES[name]
    for urls in (profile.base_urls, profile.token_urls):
        for environment, url in urls.items():
            host = url.removeprefix("https://")
            assert profile.capabilities.hosts.environment_of(host) is environment


@names
def test_every_profile_has_a_production_address(name: Name):
    assert Environment.PRODUCTION in PROFILES[name].base_urls


@names
def test_no_profile_declares_the_probe(name: Name):
    assert PortCall.PROBE not in PROFILES[name].capabilities.calls


@names
def test_the_readme_names_every_profile(name: Name):
    assert f"`{name}`" in README


STANDARD = [name for name in Name if name is not Name.EFI]
READ_ONLY = [name for name in STANDARD if name is not Name.INTER]


@cases("name", READ_ONLY)
def test_the_standard_declares_no_payouts_and_no_balance(name: Name):
    calls = PROFILES[name].capabilities.calls

    assert calls == STANDARD_CALLS
    assert calls.isdisjoint({PortCall.CREATE_PAYOUT, PortCall.GET_BALANCE, PortCall.LIST_KEYS})


WRITTEN = {
    Name.INTER: ("/pix/v2/cob/x", "/pix/v2/cobv/x", "/pix/v2/pix"),
    Name.SICOOB: ("/pix/api/v2/cob/x", "/pix/api/v2/cobv/x", "/pix/api/v2/pix"),
    Name.BB: (
        "/pix/v2/cob/x?gw-dev-app-key=app",
        "/pix/v2/cobv/x?gw-dev-app-key=app",
        "/pix/v2/pix?gw-dev-app-key=app",
    ),
    Name.SICREDI: ("/api/v3/cob/x", "/api/v2/cobv/x", "/api/v2/pix"),
}

NAMED = {Name.SICOOB: {"client_id": "client"}, Name.INTER: {"x-conta-corrente": "1234567"}}


def made(name: Name) -> ApiPixAdapter:
    context = AdapterContext(name=name, environment=Environment.PRODUCTION, observer=Witness())
    return ApiPixFactory()({"profile": name.value}, context)


def account_at(name: Name, tmp_path: Path) -> ProviderAccount:
    pair = Authority(tmp_path).pair("account")
    known = {
        "client_id": "client", "client_secret": "secret", "app_key": "app", "account": "1234567",
        "certificate": pair.certificate, "key": pair.key,
    }  # fmt: skip
    kind = PROFILES[name].secrets
    fields = {field.name for field in msgspec.structs.fields(kind) if field.required}
    told = {field: text for field, text in known.items() if field in fields}
    secrets = msgspec.convert(told, kind)
    return ProviderAccount(account_id="1", provider_account="1", secrets=secrets)


@pytest.mark.parametrize("name", STANDARD)
def test_each_profile_uses_its_bank_s_paths(name: Name, tmp_path: Path):
    adapter, account = made(name), account_at(name, tmp_path)
    asked = [
        adapter._request(account, "get_charge", IMMEDIATE, "x"),
        adapter._request(account, "get_charge", DUE, "x"),
        adapter.request(account, "list_received", f"{adapter.profile.pix}/pix"),
    ]

    assert tuple(each.path for each in asked) == WRITTEN[name]
    assert all(each.identity is not None for each in asked)
    assert [dict(each.headers) for each in asked] == [NAMED.get(name, {})] * 3


@pytest.mark.parametrize("name", STANDARD)
def test_a_token_is_requested_in_each_bank_s_own_format(name: Name, tmp_path: Path):
    adapter = made(name)
    credentials = adapter._credentials(account_at(name, tmp_path))

    asked = adapter.tokens._request(credentials)

    said = dict(parse_qsl((asked.body or b"").decode()))
    assert said["grant_type"] == "client_credentials"
    assert {"cob.read", "pix.read"} <= set(said["scope"].split())
    assert asked.identity is not None
    if name in NAMED:
        secret = "secret" if name is Name.INTER else None
        assert (said["client_id"], said.get("client_secret")) == ("client", secret)
        assert "Authorization" not in asked.headers
    else:
        assert asked.headers["Authorization"] == "Basic Y2xpZW50OnNlY3JldA=="


@names
def test_callbacks_are_proven_by_certificate_or_secret(name: Name):
    adapter = made(name)

    assert PROFILES[name].capabilities.callback_proofs == {ProofKind.CERTIFICATE, ProofKind.TOKEN}
    with pytest.raises(ProofRefused):
        adapter.callback_proof(CallbackSecrets())
    [rest] = adapter.callback_proof(CallbackSecrets(current=b"s" * 32)).rests
    assert rest == step_of(b"s" * 32) + PROFILES[name].secret_address.adds


def test_inter_offers_balance_statement_and_payouts_beyond_the_standard():
    offered = PROFILES[Name.INTER].capabilities

    assert offered.calls - STANDARD_CALLS == {
        PortCall.GET_BALANCE,
        PortCall.LIST_STATEMENT,
        PortCall.CREATE_PAYOUT,
        PortCall.FIND_PAYOUT,
    }
    assert offered.lookup == {Lookup.BANK_ID}
    assert offered.repeat is Repeat.IGNORES
    assert offered.absent_after is None


@cases("name", READ_ONLY)
def test_an_adapter_of_the_standard_only_has_no_payout_call(name: Name):
    assert not {"create_payout", "get_balance", "list_keys"} & set(dir(made(name)))
