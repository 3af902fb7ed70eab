"""Inter's own calls, at a simulated bank."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gateway.banks.port.providers import ProviderError
from gateway.core.money import Money, Sum
from provider_adapters.apipix.inter import calls
from provider_adapters.apipix.inter.documents import SALDO
from provider_adapters.apipix.secrets import InterSecrets
from provider_adapters.kit.secrets import secrets_of
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.world.tables import cases


@pytest.mark.parametrize("kind", ["court", "med"])
async def test_the_blocked_amount_is_part_of_the_balance(inter: Standing, kind: str):
    body = {"value": Money(2500), "kind": kind}
    await inter.stage.control.post("accounts", inter.account.provider_account, "block", body=body)

    held = await inter.adapter.get_balance(inter.account)

    assert (held.balance, held.blocked) == (Sum(10_000_00), Sum(2500))


@cases(
    ("blocks", "held", "blocked"),
    [
        ({"bloqueadoCheque": 1.5, "bloqueadoAdministrativo": 2}, 1350, 350),
        ({"bloqueadoCheque": None, "bloqueadoJudicialmente": 0}, 1000, 0),
        ({}, 1000, None),
    ],
)
def test_a_missing_blocked_amount_counts_as_none(
    blocks: dict[str, object], held: int, blocked: int | None
):
    found = calls._balance(SALDO.decode(json.dumps({"disponivel": 10.0, **blocks})))

    assert found.balance.centavos == held
    assert (None if found.blocked is None else found.blocked.centavos) == blocked


async def test_one_account_s_credentials_do_not_open_another_account(inter: Standing):
    known = secrets_of(inter.account, InterSecrets)
    other = secrets_of(inter.stage.accounts[1], InterSecrets).account
    mixed = replace(inter.account, secrets=InterSecrets(**{**_fields(known), "account": other}))

    with pytest.raises(ProviderError):
        await inter.adapter.get_balance(mixed)


def _fields(known: InterSecrets) -> dict[str, str]:
    return {name: getattr(known, name) for name in known.__struct_fields__}
