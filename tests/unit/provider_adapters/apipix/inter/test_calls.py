"""Inter's own calls, at the bank that stands in for it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.providers import (
    Accepted,
    NotSupported,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money, Sum
from gateway.core.windows import Window
from provider_adapters.apipix.inter import calls
from provider_adapters.apipix.inter.documents import SALDO
from provider_adapters.apipix.inter.words import ZONE
from provider_adapters.apipix.secrets import InterSecrets
from provider_adapters.kit.secrets import secrets_of
from provider_adapters.testing.verify.stage import Fate, Received
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.apipix.efi.calls import far, order
from tests.world.tables import cases


async def last_call(inter: Standing) -> dict[str, Any]:
    said = await inter.stage.control.get("calls", query={"limit": "1"})
    return dict(said["data"][-1])


@pytest.mark.parametrize("kind", ["court", "med"])
async def test_the_balance_contains_what_is_blocked_and_the_rest_can_be_spent(
    inter: Standing, kind: str
):
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
def test_a_blocked_amount_that_is_not_told_blocks_nothing(
    blocks: dict[str, object], held: int, blocked: int | None
):
    found = calls._balance(SALDO.decode(json.dumps({"disponivel": 10.0, **blocks})))

    assert found.balance.centavos == held
    assert (None if found.blocked is None else found.blocked.centavos) == blocked


@pytest.mark.parametrize("method", list(PayoutMethod))
async def test_a_payout_goes_once_with_our_key_and_is_found_by_the_bank_s_id(
    inter: Standing, method: PayoutMethod
):
    asked = order(inter, method=method)

    ordered = await inter.adapter.create_payout(inter.account, asked, far())
    sent = (await last_call(inter))["headers"]
    await inter.stage.settle()
    assert isinstance(ordered, Accepted)
    found = await inter.adapter.find_payout(inter.account, asked.provider_key, ordered.provider_id)

    told = {name.lower(): text for name, text in sent.items()}
    account = secrets_of(inter.account, InterSecrets).account
    assert told["x-id-idempotente"] == str(UUID(hex=asked.provider_key))
    assert told["x-conta-corrente"] == account
    assert isinstance(found, Settled)
    assert (found.value, found.provider_id) == (asked.value, ordered.provider_id)
    assert await inter.stage.executions(asked.provider_key) == [asked.value]


async def test_a_payout_without_the_bank_s_id_is_not_looked_up(inter: Standing):
    with pytest.raises(NotSupported):
        await inter.adapter.find_payout(inter.account, "0" * 32, "")

    assert await inter.calls() == []


async def test_a_payout_that_failed_later_is_rejected(inter: Standing):
    wish = await inter.stage.wish(Fate.FAILS)
    ordered = await inter.adapter.create_payout(
        inter.account, order(inter, wish.value.centavos), far()
    )
    await inter.stage.settle()
    assert isinstance(ordered, Accepted)

    found = await inter.adapter.find_payout(inter.account, "0" * 32, ordered.provider_id)

    assert isinstance(found, Rejected)


async def test_a_refused_payout_is_unknown(inter: Standing):
    """No source lists a refusal, so that none proves anything."""
    outcome = await inter.adapter.create_payout(inter.account, order(inter, 99_999_00), far())

    assert isinstance(outcome, Unknown)


async def test_the_statement_is_walked_page_by_page(inter: Standing):
    """A movement is at the beginning of its day in Brazil: the bank tells no more."""
    today, day = datetime.now(ZONE).date(), timedelta(days=1)
    around = Window(today - day, today + day)
    opening = (await inter.adapter.get_balance(inter.account)).balance
    for centavos in (100, 200, 300):
        await inter.stage.put(inter.account, Received(value=Money(centavos)))
    found, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = await inter.adapter.list_statement(inter.account, around, cursor, 2)
        found += [each.value for each in page.items if each.is_pix]
        cursor, pages = page.next_cursor, pages + 1

    assert sorted(each.centavos for each in found) == [100, 200, 300, opening.centavos]
    assert pages > 1


async def test_another_account_s_number_opens_nothing(inter: Standing):
    known = secrets_of(inter.account, InterSecrets)
    other = secrets_of(inter.stage.accounts[1], InterSecrets).account
    mixed = replace(inter.account, secrets=InterSecrets(**{**_fields(known), "account": other}))

    with pytest.raises(ProviderError):
        await inter.adapter.get_balance(mixed)


def _fields(known: InterSecrets) -> dict[str, str]:
    return {name: getattr(known, name) for name in known.__struct_fields__}
