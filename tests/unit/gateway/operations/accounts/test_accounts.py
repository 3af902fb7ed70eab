"""Accounts: made, changed, connected to a bank."""

import json
from dataclasses import replace

import pytest

from gateway.domain.accounts.accounts import Account, BankCoordinates
from gateway.operations.accounts.accounts import AccountOrder, AccountUpdate, ProviderChoice
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.banks.authority import EXPIRED, VALID, Authority
from tests.world.certified import registered

SANDBOX = ProviderChoice(name="sandbox", account="conta-1", credentials="token-1")
ABSENT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"


@pytest.fixture
async def company_id(office) -> str:
    return (await office.company("Padaria")).id


@pytest.fixture
async def order(company_id: str) -> AccountOrder:
    return AccountOrder(company_id=company_id, name="Padaria", tax_number="11.222.333/0001-81")


@pytest.fixture
async def account(office, order) -> Account:
    """An account at the sandbox bank."""
    return await office.accounts.create(replace(order, provider=SANDBOX))


async def test_an_account_is_made_and_found_again(office, order):
    made = await office.accounts.create(order)

    assert await office.accounts.find(made.id.upper()) == made
    assert await office.accounts.list(order.company_id) == [made]
    assert await office.accounts.list() == [made]


async def test_a_new_account_may_not_act(office, order):
    made = await office.accounts.create(order)

    assert (made.active, made.verified, made.provider) == (False, False, "")


async def test_a_tax_number_is_kept_without_punctuation(office, order):
    made = await office.accounts.create(order)

    assert made.tax_number == "11222333000181"


async def test_what_the_provider_wants_is_sealed_for_this_account(office, account):
    opened = office.sealer.open(account.sealed_credentials, account.id)

    assert opened == "token-1"
    assert b"token-1" not in account.sealed_credentials


async def test_no_act_on_record_holds_a_secret_or_a_tax_number(office, account):
    await office.accounts.update(
        account.id,
        AccountUpdate(tax_number="529.982.247-25", provider=replace(SANDBOX, credentials="t-2")),
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
        {"provider": ProviderChoice(name="unknown", account="1")},
        {"provider": ProviderChoice(name="sandbox")},
        {"provider": ProviderChoice(account="1")},
        {"provider": ProviderChoice(credentials="t")},
        {"provider": ProviderChoice(name="sandbox", account="a\nb")},
        {"coordinates": BankCoordinates(bank_number="34")},
        {"coordinates": BankCoordinates(ispb="6070119")},
        {"coordinates": BankCoordinates(branch="00001")},
        {"coordinates": BankCoordinates(account="12-34")},
        {"coordinates": BankCoordinates(account="１")},
    ],
    ids=str,
)
async def test_an_order_that_does_not_fit_changes_nothing(office, order, wrong):
    with pytest.raises(RuleViolation):
        await office.accounts.create(replace(order, **wrong))

    assert await office.accounts.list() == []
    assert len(await office.acts()) == 1


async def test_a_bank_s_account_has_a_name_that_is_seen(office, order):
    """Two names that look alike would be two accounts for us, and one for the bank."""
    unseen = ("a\u00a0b", "a\u200b", "a\u2060b", "a\u00adb", "a\ufe0f", "\u3164")
    told = {}
    for name in (" a", "a ", "a\u00a0", *unseen):
        choice = ProviderChoice(name="sandbox", account=name)
        try:
            await office.accounts.create(replace(order, provider=choice))
            told[name] = "let through"
        except RuleViolation as refused:
            told[name] = refused.reason

    assert set(told.values()) == {"account_name_form"}, told
    choice = ProviderChoice(name="sandbox", account="Agência 1 / conta 2-x")
    assert (await office.accounts.create(replace(order, provider=choice))).provider == "sandbox"


async def test_letters_in_a_cnpj_are_kept_as_capitals(office, order):
    """The CNPJ of July 2026."""
    made = await office.accounts.create(replace(order, tax_number="12.abc.345/01DE-35"))

    assert made.tax_number == "12ABC34501DE35"


async def test_an_id_is_taken_once(office, order, account):
    with pytest.raises(RuleViolation, match="exists already"):
        await office.accounts.create(replace(order, id=account.id))


async def test_an_update_changes_what_is_named_and_no_more(office, account):
    updated = await office.accounts.update(account.id, AccountUpdate(active=True))

    assert updated == replace(account, active=True)
    assert await office.accounts.find(account.id) == updated


async def test_an_update_is_on_record_with_both_values(office, account):
    await office.accounts.update(account.id, AccountUpdate(active=True, name="Nova"))

    *_, act = await office.acts()
    assert act.action == "account.updated"
    assert act.details == {"active": "false -> true", "name": "Padaria -> Nova"}


async def test_an_update_that_changes_nothing_leaves_no_trace(office, account):
    before = await office.acts()

    await office.accounts.update(account.id, AccountUpdate(active=False, name="Padaria"))

    assert await office.acts() == before


async def test_another_bank_never_sees_the_credentials_of_the_one_before(office, account):
    elsewhere = ProviderChoice(name="other-bank", account="9")
    with pytest.raises(RuleViolation) as refused:
        await office.accounts.update(account.id, AccountUpdate(provider=elsewhere))
    none = replace(elsewhere, credentials="")
    updated = await office.accounts.update(account.id, AccountUpdate(provider=none))

    assert (refused.value.field, refused.value.reason) == (
        "credentials",
        "bank_credentials_missing",
    )
    assert (updated.provider, updated.provider_account) == ("other-bank", "9")
    assert updated.sealed_credentials == b""


async def test_a_provider_may_be_taken_away(office, account):
    updated = await office.accounts.update(account.id, AccountUpdate(provider=ProviderChoice()))

    assert (updated.provider, updated.provider_account) == ("", account.provider_account)
    assert updated.had_bank
    assert updated.sealed_credentials == b""


async def test_coordinates_are_completed(office, account):
    for part in ({"branch": "0001"}, {"account": "123456-7", "bank_number": "341"}):
        updated = await office.accounts.update(
            account.id, AccountUpdate(coordinates=BankCoordinates(**part))
        )

    assert updated.coordinates == BankCoordinates(
        bank_number="341", branch="0001", account="123456-7"
    )


@pytest.mark.parametrize(
    "update",
    [
        AccountUpdate(name=" "),
        AccountUpdate(tax_number="1"),
        AccountUpdate(provider=ProviderChoice(name="unknown", account="1")),
        AccountUpdate(coordinates=BankCoordinates(ispb="x")),
    ],
    ids=str,
)
async def test_an_update_that_does_not_fit_changes_nothing(office, account, update):
    with pytest.raises(RuleViolation):
        await office.accounts.update(account.id, update)

    assert await office.accounts.find(account.id) == account


@pytest.mark.parametrize("account_id", [ABSENT, "no-uuid"])
async def test_an_account_that_is_not_there_is_named(office, account_id: str):
    with pytest.raises(RuleViolation, match=account_id):
        await office.accounts.update(account_id, AccountUpdate(active=True))


async def test_a_list_of_nobody_s_accounts_is_refused(office):
    with pytest.raises(RuleViolation, match=ABSENT):
        await office.accounts.list(ABSENT)


def test_a_provider_s_credentials_are_not_shown():
    assert "token-1" not in repr(AccountUpdate(provider=SANDBOX))


@pytest.fixture
def secrets(tmp_path, monkeypatch) -> dict[str, str]:
    """What an account of ``other-bank`` shows, whose adapter now asks for several texts."""
    registered(monkeypatch, "sandbox")
    pair = Authority(tmp_path).pair("we")
    return {"client_id": "canary-id", "certificate": pair.certificate, "key": pair.key}


async def test_secrets_are_sealed_whole_and_their_end_is_on_record(office, order, secrets):
    choice = ProviderChoice(name="other-bank", account="7", credentials=secrets)

    made = await office.accounts.create(replace(order, provider=choice))

    assert made.certificate_ends_at == VALID[1].replace(microsecond=0)
    assert json.loads(office.sealer.open(made.sealed_credentials, made.id)) == secrets
    assert await office.accounts.find(made.id) == made
    assert "canary" not in str(await office.acts())


async def test_a_new_certificate_is_an_act_with_both_ends(office, order, secrets, tmp_path):
    choice = ProviderChoice(name="other-bank", account="7", credentials=secrets)
    made = await office.accounts.create(replace(order, provider=choice))
    old = Authority(tmp_path, "other").pair("we", EXPIRED)
    changed = secrets | {"certificate": old.certificate, "key": old.key}

    after = await office.accounts.update(
        made.id, AccountUpdate(provider=replace(choice, credentials=changed))
    )
    gone = await office.accounts.update(made.id, AccountUpdate(provider=ProviderChoice()))

    assert after.certificate_ends_at == EXPIRED[1].replace(microsecond=0)
    assert (gone.certificate_ends_at, gone.sealed_credentials) == (None, b"")
    told = [act.details for act in await office.acts() if act.action == "account.updated"]
    assert told[0]["sealed_credentials"] == "changed"
    assert (
        told[0]["certificate_ends_at"]
        == f"{made.certificate_ends_at} -> {after.certificate_ends_at}"
    )


@pytest.mark.parametrize("half", ["client_id", "certificate", "key"])
async def test_half_of_the_secrets_changes_nothing(office, order, secrets, half: str):
    choice = ProviderChoice(name="other-bank", account="7", credentials=secrets)
    made = await office.accounts.create(replace(order, provider=choice))
    given = {name: text for name, text in secrets.items() if name != half}

    with pytest.raises(RuleViolation) as refused:
        await office.accounts.update(
            made.id, AccountUpdate(provider=replace(choice, credentials=given))
        )

    assert (refused.value.field, refused.value.reason) == (f"credentials.{half}", "missing")
    assert "canary" not in str(refused.value)
    assert await office.accounts.find(made.id) == made


async def test_an_account_may_be_made_without_secrets(office, order, secrets):
    """Its payouts are refused until it has them."""
    choice = ProviderChoice(name="other-bank", account="7", credentials="")

    made = await office.accounts.create(replace(order, provider=choice))

    assert (made.sealed_credentials, made.certificate_ends_at) == (b"", None)
