"""Accounts: made, changed, connected to a bank."""

import json
from dataclasses import replace as changed_from

import pytest
from msgspec.structs import replace

from gateway.accounts.model import (
    NO_BANK,
    AccountChange,
    AccountRequest,
    NamesRequest,
    ProviderRequest,
)
from gateway.core.access import Staff, StaffOf
from gateway.core.account import Account, BankCoordinates
from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import RIGHTS, Area, Right, Role
from gateway.core.versions import Expected, version_of_account
from tests.world.banks.authority import EXPIRED, VALID, Authority
from tests.world.certified import registered
from tests.world.people import somebody
from tests.world.registers import TAX, Registers

SANDBOX = ProviderRequest(provider="sandbox", provider_account="conta-1", credentials="token-1")
ABSENT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"


@pytest.fixture
async def account(office, company_id) -> Account:
    return await office.account(company_id, SANDBOX, tax_number="11.222.333/0001-81")


async def test_an_account_is_created_and_found(office, company_id):
    made, who = await office.account(company_id), Staff(office.acting)

    assert await office.found(made.id.upper()) == made
    assert await office.accounts.every(who, company_id) == [made]
    assert await office.accounts.every(who) == [made]


async def test_a_new_account_may_not_act(office, company_id):
    made = await office.account(company_id)

    assert (made.active, made.verified, made.provider) == (False, False, "")


async def test_a_tax_number_is_kept_without_punctuation(office, company_id):
    made = await office.account(company_id, tax_number="11.222.333/0001-81")

    assert made.tax_number == "11222333000181"


async def test_connecting_a_bank_requires_the_bank_right(office, company_id, monkeypatch):
    monkeypatch.setitem(RIGHTS, Role.VIEWER, frozenset({Right(Area.ACCOUNT, Action.WRITE)}))
    factor = {"has_factor": True, "factor_at": office.clock()}
    who = StaffOf(office.clock, ())(somebody(Role.VIEWER, **factor))
    wanted = AccountRequest(company_id=company_id, name="Filial", tax_number=TAX)

    with pytest.raises(ServiceError) as refused:
        await office.accounts.create(who, wanted, SANDBOX)

    assert refused.value.error.code == "FORBIDDEN"
    assert (await office.accounts.create(who, wanted)).provider == ""


async def test_credentials_at_the_provider_are_sealed_for_this_account(office, account):
    opened = office.sealer.open(account.sealed_credentials, account.id)

    assert opened == "token-1"
    assert b"token-1" not in account.sealed_credentials


async def test_no_audited_act_contains_a_secret_or_a_tax_number(office, account):
    await office.change(
        account.id, replace(SANDBOX, credentials="t-2"), tax_number="529.982.247-25"
    )

    told = str(await office.acts())
    assert not [
        text for text in ("token-1", "t-2", "52998224725", "11222333000181") if text in told
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"company_id": ABSENT},
        {"company_id": "no-uuid"},
        {"name": ""},
        {"tax_number": "11222333000180"},
        {"tax_number": "12ABC34501DE36"},
        {"id": "no-uuid"},
        {"bank": ProviderRequest(provider="unknown", provider_account="1")},
        {"bank": ProviderRequest(provider="sandbox")},
        {"bank": ProviderRequest(provider="", provider_account="1")},
        {"bank": ProviderRequest(provider="", credentials="t")},
        {"bank": ProviderRequest(provider="sandbox", provider_account="a\nb")},
        {"bank_number": "34"},
        {"ispb": "6070119"},
        {"branch": "00001"},
        {"account": "12-34"},
        {"account": "１"},
    ],
    ids=str,
)
async def test_an_invalid_order_changes_nothing(office, company_id, wrong):
    with pytest.raises(RuleViolation):
        await office.account(**{"company_id": company_id, **wrong})

    assert await office.accounts.every(Staff(office.acting)) == []
    assert len(await office.acts()) == 1


async def test_a_bank_account_name_with_invisible_characters_is_refused(office, company_id):
    """Two names that look alike would be two accounts here, and one at the bank."""
    unseen = ("a\u00a0b", "a\u200b", "a\u2060b", "a\u00adb", "a\ufe0f", "\u3164")
    told = {}
    for name in (" a", "a ", "a\u00a0", *unseen):
        choice = ProviderRequest(provider="sandbox", provider_account=name)
        try:
            await office.account(company_id, choice)
            told[name] = "let through"
        except RuleViolation as refused:
            told[name] = refused.reason

    assert set(told.values()) == {"account_name_form"}, told
    choice = ProviderRequest(provider="sandbox", provider_account="Agência 1 / conta 2-x")
    assert (await office.account(company_id, choice)).provider == "sandbox"


async def test_letters_in_a_cnpj_are_stored_as_capitals(office, company_id):
    """The CNPJ of July 2026."""
    made = await office.account(company_id, tax_number="12.abc.345/01DE-35")

    assert made.tax_number == "12ABC34501DE35"


async def test_an_update_changes_only_the_given_fields(office, account):
    updated = await office.change(account.id, active=True)

    assert updated == changed_from(account, active=True)
    assert await office.found(account.id) == updated


async def test_an_update_is_on_record_with_both_values(office, account):
    await office.change(account.id, active=True, name="Nova")

    *_, act = await office.acts()
    assert act.action == "account.updated"
    assert act.details == {"active": "false -> true", "name": "Padaria -> Nova"}


async def test_an_update_without_a_change_has_no_audit_event(office, account):
    before = await office.acts()

    await office.change(account.id, active=False, name="Padaria")

    assert await office.acts() == before


async def test_changing_the_bank_drops_the_credentials_of_the_former_one(office, account):
    elsewhere = ProviderRequest(provider="other-bank", provider_account="9")
    with pytest.raises(RuleViolation) as refused:
        await office.change(account.id, elsewhere)
    none = replace(elsewhere, credentials="")
    updated = await office.change(account.id, none)

    assert (refused.value.field, refused.value.reason) == (
        "credentials",
        "bank_credentials_missing",
    )
    assert (updated.provider, updated.provider_account) == ("other-bank", "9")
    assert updated.sealed_credentials == b""


async def test_a_provider_can_be_removed(office, account):
    updated = await office.change(account.id, NO_BANK)

    assert (updated.provider, updated.provider_account) == ("", account.provider_account)
    assert updated.had_bank
    assert updated.sealed_credentials == b""


async def test_bank_coordinates_can_be_set_in_parts(office, account):
    for part in ({"branch": "0001"}, {"account": "123456-7", "bank_number": "341"}):
        updated = await office.change(account.id, **part)

    assert updated.coordinates == BankCoordinates(
        bank_number="341", branch="0001", account="123456-7"
    )


@pytest.mark.parametrize(
    "update",
    [
        {"name": " "},
        {"tax_number": "1"},
        {"bank": ProviderRequest(provider="unknown", provider_account="1")},
        {"ispb": "x"},
    ],
    ids=str,
)
async def test_an_invalid_update_changes_nothing(office, account, update):
    with pytest.raises(RuleViolation):
        await office.change(account.id, **update)

    assert await office.found(account.id) == account


@pytest.mark.parametrize("account_id", [ABSENT, "no-uuid"])
async def test_an_absent_account_is_named_in_the_error(office, account_id: str):
    with pytest.raises(RuleViolation, match=account_id):
        await office.change(account_id, active=True)


async def test_listing_accounts_of_an_absent_company_is_refused(office):
    with pytest.raises(RuleViolation, match=ABSENT):
        await office.accounts.every(Staff(office.acting), ABSENT)


def test_a_provider_s_credentials_are_not_shown():
    assert "token-1" not in repr(SANDBOX)


@pytest.fixture
def secrets(tmp_path, monkeypatch) -> dict[str, str]:
    """What an account of ``other-bank`` shows, whose adapter now asks for several texts."""
    registered(monkeypatch, "sandbox")
    pair = Authority(tmp_path).pair("we")
    return {"client_id": "canary-id", "certificate": pair.certificate, "key": pair.key}


async def test_secrets_are_sealed_and_their_expiry_is_stored(office, company_id, secrets):
    choice = ProviderRequest(provider="other-bank", provider_account="7", credentials=secrets)

    made = await office.account(company_id, choice)

    assert made.certificate_ends_at == VALID[1].replace(microsecond=0)
    assert json.loads(office.sealer.open(made.sealed_credentials, made.id)) == secrets
    assert await office.found(made.id) == made
    assert "canary" not in str(await office.acts())


async def test_a_new_certificate_is_audited_with_both_expiry_dates(
    office, company_id, secrets, tmp_path
):
    choice = ProviderRequest(provider="other-bank", provider_account="7", credentials=secrets)
    made = await office.account(company_id, choice)
    old = Authority(tmp_path, "other").pair("we", EXPIRED)
    changed = secrets | {"certificate": old.certificate, "key": old.key}

    after = await office.change(made.id, replace(choice, credentials=changed))
    gone = await office.change(made.id, NO_BANK)

    assert after.certificate_ends_at == EXPIRED[1].replace(microsecond=0)
    assert (gone.certificate_ends_at, gone.sealed_credentials) == (None, b"")
    told = [act.details for act in await office.acts() if act.action == "account.updated"]
    assert told[0]["sealed_credentials"] == "changed"
    assert (
        told[0]["certificate_ends_at"]
        == f"{made.certificate_ends_at} -> {after.certificate_ends_at}"
    )


@pytest.mark.parametrize("half", ["client_id", "certificate", "key"])
async def test_incomplete_secrets_change_nothing(office, company_id, secrets, half: str):
    choice = ProviderRequest(provider="other-bank", provider_account="7", credentials=secrets)
    made = await office.account(company_id, choice)
    given = {name: text for name, text in secrets.items() if name != half}

    with pytest.raises(RuleViolation) as refused:
        await office.change(made.id, replace(choice, credentials=given))

    assert (refused.value.field, refused.value.reason) == (f"credentials.{half}", "missing")
    assert "canary" not in str(refused.value)
    assert await office.found(made.id) == made


async def test_an_account_may_be_made_without_secrets(office, company_id, secrets):
    """Its payouts are refused until it has secrets."""
    choice = ProviderRequest(provider="other-bank", provider_account="7", credentials="")

    made = await office.account(company_id, choice)

    assert (made.sealed_credentials, made.certificate_ends_at) == (b"", None)


async def owned(office: Registers, name: str) -> Account:
    return await office.account((await office.company(name)).id, name=name)


async def test_an_update_of_another_version_is_refused(office: Registers, account: Account):
    who, wanted = Staff(office.acting), AccountChange(active=True)
    seen = Expected(frozenset({version_of_account(account)}))

    await office.accounts.change(who, account, wanted, seen)
    with pytest.raises(ServiceError) as refused:
        await office.accounts.change(who, account, AccountChange(verified=True), seen)

    assert refused.value.error.code == "SVC.GTW.011"


async def test_a_bank_account_belongs_to_one_company_in_any_spelling(office: Registers):
    """Letter case, wide letters, and another name of the same bank: one account at the bank."""
    mine, other = await owned(office, "Padaria"), await owned(office, "Outra")
    await office.change(mine.id, SANDBOX)

    told = {}
    for provider, name in (
        ("sandbox", "conta-1"),
        ("sandbox", "CONTA-1"),
        ("sandbox", "ｃｏｎｔａ-1"),
        ("other-bank", "conta-1"),
        ("other-bank", "Conta-1"),
    ):
        bank = ProviderRequest(provider=provider, provider_account=name, credentials="secret")
        try:
            await office.change(other.id, bank)
            told[provider, name] = "let through"
        except RuleViolation as refused:
            told[provider, name] = refused.reason

    assert set(told.values()) == {"bank_account_taken"}, told
    assert await office.found(other.id) == other


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
@pytest.mark.usefixtures("secrets")
async def test_unsuitable_bank_credentials_are_refused_by_field(
    office: Registers, company_id: str, given: object, field: str, reason: str
):
    bank = ProviderRequest(provider="other-bank", provider_account="1", credentials=given)  # type: ignore[arg-type]

    with pytest.raises(RuleViolation) as refused:
        await office.account(company_id, bank)

    assert (refused.value.field, refused.value.reason) == (field, reason)
    assert "canary" not in f"{refused.value!r} {refused.value}"


async def test_a_bank_with_a_single_text_as_credentials_refuses_fields(
    office: Registers, company_id: str
):
    with pytest.raises(RuleViolation) as refused:
        await office.account(company_id, replace(SANDBOX, credentials={"a": "canary"}))

    assert refused.value.reason == "bank_credentials_text"


@pytest.mark.parametrize(
    ("role", "seen"),
    [(Role.VIEWER, {"Padaria", "Matriz"}), (Role.SECURITY, {"Padaria", "Matriz", "ERP"})],
)
async def test_records_are_named_within_the_reader_s_rights(
    office: Registers, role: Role, seen: set[str]
):
    company, foreign = await office.company("Padaria"), await owned(office, "Outra")
    account = await office.account(company.id, name="Matriz")
    issued = await office.issue(company.id)
    who = StaffOf(office.clock, ())(somebody(role, companies=frozenset({company.id})))
    ids = [company.id, account.id, issued.credential.client_id, foreign.id, "nobody"]

    found = await office.accounts.names(who, NamesRequest(ids))

    assert {each.name for each in found} == seen
    assert await office.accounts.names(who, NamesRequest([])) == []


async def test_every_bank_number_is_listed_once_with_its_ispb(office: Registers):
    found = await office.accounts.bank_numbers(Staff(office.acting))

    assert "60701190" in {each.ispb for each in found if each.compe == "341"}
    assert len({each.compe for each in found}) == len(found) > 400
    assert {len(each.ispb) for each in found} == {8}
