"""The rows on accounts as records."""

from __future__ import annotations

import pytest

from gateway.http.operator.management.accounts import (
    AccountActs,
    AccountBody,
    AccountChange,
    ProviderBody,
)
from tests.unit.gateway.http.operator.management.stage import TAX, Stage, turned_down
from tests.unit.gateway.http.operator.stage import gate_of, line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("account_create", ("POST", "/accounts", "account:write", 201)),
        ("account_change", ("PATCH", "", "account:write", 200)),
        ("account_provider", ("PUT", "/provider", "provider:write", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_an_account_that_is_switched_off_can_be_switched_on():
    """The gate asks whether it is shown, not whether it may act."""
    assert "VisibleAccount" in gate_of("account_change")
    assert "AccountState" not in gate_of("account_change")


async def test_what_is_absent_stays_as_it_is(stage: Stage):
    acts, who = AccountActs(stage.registers), stage.at(stage.account)

    changed = await acts.change(who, AccountChange(active=True, branch="12"))

    assert (changed.active, changed.verified, changed.coordinates.branch) == (True, False, "12")
    assert changed.name == stage.account.name


async def test_credentials_are_sealed_and_forgotten_with_their_bank(stage: Stage):
    acts, who = AccountActs(stage.registers), stage.at(stage.account)
    bank = ProviderBody(provider="sandbox", provider_account="1", credentials="secret")

    attached = await acts.attach(who, bank)
    moved = await acts.attach(who, ProviderBody(provider="other-bank", provider_account="2"))

    assert attached.sealed_credentials
    assert b"secret" not in attached.sealed_credentials
    assert moved.sealed_credentials == b""


async def test_nobody_adds_to_a_company_they_do_not_see(stage: Stage):
    acts = AccountActs(stage.registers)
    order = AccountBody(company_id=stage.theirs.id.upper(), name="A", tax_number=TAX)

    refused = await turned_down(acts.create(stage.staff(stage.ours.id), order))

    assert refused == "400 VALIDATION_FAILED"
    assert (await acts.create(stage.staff(stage.theirs.id), order)).company_id == stage.theirs.id
