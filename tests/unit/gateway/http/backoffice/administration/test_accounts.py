"""The rows on accounts as records."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from gateway.domain.backoffice.lists import OwnedAccount
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.calls import RawRequest
from gateway.http.backoffice.administration.accounts import (
    AccountBody,
    AccountChange,
    ProviderBody,
    accounts,
)
from gateway.http.backoffice.administration.accounts import account as show_account
from gateway.http.rendering import instant
from gateway.operations.bank.pages import Listed
from policies.validation.bodies import body
from tests.unit.gateway.http.backoffice.registers import TAX, AdminWorld, turned_down
from tests.unit.gateway.http.backoffice.surface import OFFICE, STAFF, gate_of, line
from tests.world.banks.authority import VALID, Authority
from tests.world.certified import registered
from tests.world.people import COMPANY, account


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


async def test_what_is_absent_stays_as_it_is(admin_world: AdminWorld):
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)

    changed = await acts.change(who, AccountChange(active=True, branch="12"))

    assert (changed.active, changed.verified, changed.coordinates.branch) == (True, False, "12")
    assert changed.name == admin_world.account.name


ENTERED = {"provider": "sandbox", "provider_account": "1"}
BANK = ProviderBody(provider="sandbox", provider_account="1", credentials="secret")


async def test_credentials_are_sealed_and_stay_while_the_bank_s_account_does(
    admin_world: AdminWorld,
):
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)

    attached = await acts.attach(who, BANK)
    kept = await acts.attach(who, ProviderBody(provider="sandbox", provider_account="1"))

    assert attached.sealed_credentials
    assert b"secret" not in attached.sealed_credentials
    assert kept == attached


@pytest.mark.parametrize(("provider", "account"), [("sandbox", "2"), ("other-bank", "1")])
async def test_no_bank_is_shown_the_credentials_of_another(
    admin_world: AdminWorld, provider: str, account: str
):
    """They are asked for; an empty text says that there are none."""
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)
    before = await acts.attach(who, BANK)

    with pytest.raises(ServiceError) as refused:
        await acts.attach(who, ProviderBody(provider=provider, provider_account=account))
    found = await admin_world.office.accounts.find(admin_world.account.id)
    none = ProviderBody(provider=provider, provider_account=account, credentials="")
    moved = await acts.attach(who, none)

    assert refused.value.error.status == 400
    assert (refused.value.field, refused.value.reason) == (
        "credentials",
        "bank_credentials_missing",
    )
    assert found == before
    assert (moved.provider, moved.sealed_credentials) == (provider, b"")


async def test_an_account_that_leaves_its_bank_leaves_its_credentials(admin_world: AdminWorld):
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)
    await acts.attach(who, BANK)

    alone = await acts.attach(who, ProviderBody(provider=""))

    assert (alone.provider, alone.sealed_credentials) == ("", b"")


async def test_a_bank_s_account_belongs_to_one_company(admin_world: AdminWorld):
    acts = admin_world.accounts
    await acts.attach(admin_world.at(admin_world.account), BANK)

    with pytest.raises(ServiceError) as refused:
        await acts.attach(admin_world.at(admin_world.foreign), BANK)

    assert refused.value.error.code == "SVC.GTW.009"
    assert (refused.value.field, refused.value.reason) == (
        "provider_account",
        "bank_account_taken",
    )
    assert (await admin_world.office.accounts.find(admin_world.foreign.id)).provider == ""


async def test_another_spelling_of_a_bank_s_account_is_the_same_account(admin_world: AdminWorld):
    """Letter case, wide letters, and another name of the same bank: one account at the bank."""
    acts = admin_world.accounts
    bank = msgspec.structs.replace(BANK, provider_account="conta-1")
    await acts.attach(admin_world.at(admin_world.account), bank)

    told = {}
    for provider, name in (
        ("sandbox", "CONTA-1"),
        ("sandbox", "ｃｏｎｔａ-1"),
        ("other-bank", "conta-1"),
        ("other-bank", "Conta-1"),
    ):
        other = msgspec.structs.replace(bank, provider=provider, provider_account=name)
        try:
            await acts.attach(admin_world.at(admin_world.foreign), other)
            told[provider, name] = "let through"
        except ServiceError as refused:
            told[provider, name] = refused.reason

    assert set(told.values()) == {"bank_account_taken"}, told


async def test_nobody_adds_to_a_company_they_do_not_see(admin_world: AdminWorld):
    acts = admin_world.accounts
    order = AccountBody(company_id=admin_world.theirs.id.upper(), name="A", tax_number=TAX)

    refused = await turned_down(acts.create(admin_world.staff(admin_world.ours.id), order))

    assert refused == "400 VALIDATION_FAILED"
    assert (
        await acts.create(admin_world.staff(admin_world.theirs.id), order)
    ).company_id == admin_world.theirs.id


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("accounts", ("GET", "/accounts", "account:read", 200)),
        ("account", ("GET", "", "account:read", 200)),
    ],
)
def test_the_reading_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


OWNED = OwnedAccount(account(), "Padaria")


def test_an_account_is_shown_with_its_owner_and_no_credentials():
    shown = show_account(OWNED, OFFICE).content

    assert shown["company"] == {"id": COMPANY, "name": "Padaria"}
    assert "sealed" not in str(shown)
    assert shown["provider_account"] == OWNED.account.provider_account
    assert shown["has_credentials"] is bool(OWNED.account.sealed_credentials)


def test_an_owner_whose_record_is_missing_has_no_name():
    shown = show_account(OwnedAccount(account(), ""), OFFICE).content

    assert shown["company"] == {"id": COMPANY, "name": ""}


def test_a_page_of_accounts_says_where_it_lies():
    page = Listed(items=[OWNED], paging=Paging(2, 1), total=2)

    shown = accounts(page, STAFF)

    assert shown["meta"] == {"page": 2, "limit": 1, "total": 2}
    assert shown["data"] == [show_account(OWNED, OFFICE).content]


async def test_what_a_bank_asks_for_is_entered_by_field(
    admin_world: AdminWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The certificate's end is shown, so that nobody has to open what is sealed."""
    registered(monkeypatch, "sandbox")
    pair = Authority(tmp_path).pair("we")
    whole = {"client_id": "id", "certificate": pair.certificate, "key": pair.key}
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)

    for given in (whole, json.dumps(whole)):
        asked = RawRequest(
            path={},
            content_type="application/json",
            body=json.dumps({**ENTERED, "credentials": given}).encode(),
        )
        attached = await acts.attach(who, body(ProviderBody).read(asked))

        assert attached.certificate_ends_at == VALID[1].replace(microsecond=0)
    shown = show_account(OwnedAccount(attached, ""), OFFICE).content
    assert shown["certificate_ends_at"] == instant(VALID[1].replace(microsecond=0))
    assert show_account(OWNED, OFFICE).content["certificate_ends_at"] == ""


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"client_id": "canary"}, "credentials.certificate", "missing"),
        (
            {"client_id": "canary", "certificate": "canary", "key": "x"},
            "credentials.certificate",
            "pem_certificate",
        ),
        ({"canary": "canary"}, "credentials", "bank_credentials_unknown"),
        ("canary", "credentials", "bank_credentials_form"),
    ],
)
async def test_what_does_not_fit_the_bank_is_refused_by_field(
    admin_world: AdminWorld, monkeypatch: pytest.MonkeyPatch, given: object, field: str, reason: str
):
    registered(monkeypatch, "sandbox")
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)
    wanted = ProviderBody(provider="sandbox", provider_account="1", credentials=given)

    with pytest.raises(ServiceError) as refused:
        await acts.attach(who, wanted)

    assert (refused.value.error.status, refused.value.field) == (400, field)
    assert refused.value.reason == reason
    assert "canary" not in f"{refused.value!r} {refused.value} {refused.value.detail}"


async def test_a_bank_of_one_text_takes_no_fields(admin_world: AdminWorld):
    acts, who = admin_world.accounts, admin_world.at(admin_world.account)
    wanted = ProviderBody(provider="sandbox", provider_account="1", credentials={"a": "canary"})

    with pytest.raises(ServiceError) as refused:
        await acts.attach(who, wanted)

    assert (refused.value.field, refused.value.reason) == ("credentials", "bank_credentials_text")
