"""Accounts as they are shown."""

from dataclasses import replace

from gateway.accounts.model import OwnedAccount, Owner, registered
from gateway.core.versions import version_of_account
from gateway.http.rendering import dumps
from tests.world.people import COMPANY, account

OWNED = OwnedAccount(account(), "Padaria")


def test_an_account_is_shown_with_its_owner_and_no_credentials():
    shown = OWNED.to_document(None)

    assert shown.company == Owner(COMPANY, "Padaria")
    assert shown.has_credentials is bool(OWNED.account.sealed_credentials)
    assert (shown.provider_account, shown.ispb) == (
        OWNED.account.provider_account,
        OWNED.account.coordinates.ispb,
    )
    assert OWNED.version() == version_of_account(OWNED.account)


def test_sealed_credentials_are_not_in_the_document():
    sealed = replace(account(), sealed_credentials=b"canary")

    for shown in (registered(sealed, None), OwnedAccount(sealed, "").to_document(None)):
        written = dumps(shown)
        assert b"canary" not in written
        assert b"sealed" not in written
        assert b'"certificate_ends_at":""' in written


def test_the_cpf_of_a_holder_is_shown_in_part_and_a_cnpj_whole():
    person = replace(OWNED.account, tax_number="52998224725")
    company = replace(OWNED.account, tax_number="11222333000181")

    shown = [
        document.tax_number
        for each in (person, company)
        for document in (registered(each, None), OwnedAccount(each, "").to_document(None))
    ]

    assert shown == ["***.982.247-**"] * 2 + ["11222333000181"] * 2
