"""The demo in the store."""

from dataclasses import replace

import pytest

from gateway.security.sealing import Sealer
from gateway.security.secrets import SecretDigester
from provider_adapters.testing.demo import bank_side, contents, store_side
from provider_adapters.testing.demo.ensure import ensure_demo

pytestmark = pytest.mark.slow


def under(office, **keys):
    """The same store under other keys."""
    kernel = replace(office.kernel, keys=replace(office.kernel.keys, **keys))
    return replace(office, kernel=kernel)


@pytest.fixture
async def demo(parts):
    """The demo, made once."""
    return await ensure_demo(parts)


async def test_an_account_is_what_its_role_says(demo, office):
    wanted, found = {}, {}
    for each in contents.ACCOUNTS:
        account = await office.accounts.find(demo["accounts"][each.role]["id"])
        company = demo["companies"][each.company]["id"]
        wanted[each.role] = (company, each.active, each.verified, each.provider)
        found[each.role] = (
            account.company_id,
            account.active,
            account.verified,
            account.provider,
        )

    assert len(found) == len(contents.ACCOUNTS)
    assert found == wanted


async def test_an_account_carries_its_token_at_the_bank(demo, office):
    account = await office.accounts.find(demo["accounts"]["main"]["id"])

    opened = office.sealer.open(account.sealed_credentials, account.id)

    assert opened == bank_side.token(account.provider_account)


async def test_a_credential_is_what_its_role_says(demo, office):
    wanted, found = {}, {}
    for each in contents.CREDENTIALS:
        pair, company = demo["credentials"][each.role], demo["companies"][each.company]["id"]
        kept = await office.store.credentials.find(pair["client_id"])
        wanted[each.role] = (True, each.permissions, company, each.account is None, each.revoked)
        found[each.role] = (
            office.digester.matches(pair["client_secret"], kept.secrets, office.clock()),
            kept.permissions,
            kept.company_id,
            kept.account_id is None,
            kept.revoked_at is not None,
        )

    assert len(found) == len(contents.CREDENTIALS)
    assert found == wanted


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

    await store_side.ensure(under(records, sealer=sealer), demo)

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

    new = await store_side.replacements(under(records, digester=digester), demo)

    assert set(demo["credentials"]) - set(new) == {"revoked"}


def test_what_another_key_sealed_stays_closed():
    mine, other = (Sealer({name: name.encode() * 16}, name) for name in ("k1", "k2"))
    sealed = mine.seal("token", "row")

    assert store_side.unsealed(mine, sealed, "row") == "token"
    assert store_side.unsealed(other, sealed, "row") is None
    assert store_side.unsealed(mine, sealed, "other row") is None
