"""The demo in the store."""

from dataclasses import replace

import pytest

from gateway.operations.demo import bank_side, contents, store_side
from gateway.operations.demo.ensure import ensure_demo
from gateway.security.digests import SecretDigester
from gateway.security.sealing import Sealer


@pytest.fixture
async def demo(parts):
    """The demo, made once."""
    return await ensure_demo(parts)


@pytest.mark.parametrize("wanted", contents.ACCOUNTS, ids=lambda each: each.role)
async def test_an_account_is_what_its_role_says(demo, office, wanted):
    account = await office.accounts.find(demo["accounts"][wanted.role]["id"])

    assert account.company_id == demo["companies"][wanted.company]["id"]
    assert (account.active, account.verified) == (wanted.active, wanted.verified)
    assert account.provider == wanted.provider


async def test_an_account_carries_its_token_at_the_bank(demo, office):
    account = await office.accounts.find(demo["accounts"]["main"]["id"])

    opened = office.sealer.open(account.sealed_credentials, account.id)

    assert opened == bank_side.token(account.provider_account)


@pytest.mark.parametrize("wanted", contents.CREDENTIALS, ids=lambda each: each.role)
async def test_a_credential_is_what_its_role_says(demo, office, wanted):
    pair = demo["credentials"][wanted.role]

    found = await office.store.credentials.find(pair["client_id"])

    assert office.digester.matches(pair["client_secret"], found.secrets, office.clock())
    assert found.permissions == wanted.permissions
    assert found.company_id == demo["companies"][wanted.company]["id"]
    assert (found.account_id is None) is (wanted.account is None)
    assert (found.revoked_at is not None) is wanted.revoked


async def test_doing_it_again_writes_nothing(demo, records, office):
    before = await office.acts()

    await store_side.ensure(records, demo)

    assert await office.acts() == before


async def test_an_account_that_was_changed_is_put_right(demo, records, office):
    account = await office.accounts.find(demo["accounts"]["inactive"]["id"])
    await office.store.accounts.replace(
        replace(account, active=True, sealed_credentials=b"?"), office.acting.event("t", "t")
    )

    await store_side.ensure(records, demo)

    again = await office.accounts.find(account.id)
    assert again.active is False
    assert office.sealer.open(again.sealed_credentials, again.id) == bank_side.token(again.id)


async def test_what_another_key_sealed_is_sealed_again(demo, records, office):
    sealer = Sealer({"k2": b"K" * 32}, "k2")

    await store_side.ensure(replace(records, seal=sealer.seal, unseal=lambda *_: None), demo)

    account = await office.accounts.find(demo["accounts"]["main"]["id"])
    assert sealer.open(account.sealed_credentials, account.id)


async def test_nothing_is_replaced_that_works(demo, records):
    assert await store_side.replacements(records, demo) == {}


async def test_what_somebody_revoked_is_replaced(demo, records, office):
    await office.credentials.revoke(demo["credentials"]["full"]["client_id"])

    new = await store_side.replacements(records, demo)

    assert list(new) == ["full"]
    assert new["full"]["client_id"] != demo["credentials"]["full"]["client_id"]


async def test_under_another_pepper_every_credential_that_should_work_is_replaced(demo, records):
    """The revoked one need not work."""
    digester = SecretDigester({"p2": b"P" * 32}, "p2")

    new = await store_side.replacements(replace(records, matches=digester.matches), demo)

    assert set(demo["credentials"]) - set(new) == {"revoked"}
