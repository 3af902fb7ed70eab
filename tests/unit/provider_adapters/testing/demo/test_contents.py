"""The demo's tables."""

import re

from gateway.banks.port.pix_keys import normal_key
from gateway.core import strict
from gateway.core.money import Money
from gateway.core.permissions import EVERY_PERMISSION
from provider_adapters.testing.demo import contents

ONE = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
OTHER = "1b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c02"
ACCOUNTS = [
    "main",
    "sister",
    "other_company",
    "inactive",
    "unverified",
    "inactive_unverified",
    "no_provider",
    "read_only",
]


def test_every_account_has_its_role():
    found = contents.ACCOUNTS

    assert list(found) == ACCOUNTS
    assert (found["no_provider"].provider, found["read_only"].provider) == ("", "sandbox-read-only")
    assert {role for role, each in found.items() if each.company == "other"} == {"other_company"}


def test_an_account_is_what_its_role_says():
    for role, account in contents.ACCOUNTS.items():
        assert account.active is not role.startswith("inactive"), role
        assert account.verified is not role.endswith("unverified"), role


def test_every_single_permission_has_a_credential_of_main():
    found = contents.CREDENTIALS

    for permission in EVERY_PERMISSION:
        alone = found[str(permission)]
        assert (alone.permissions, alone.account) == (frozenset({permission}), "main")


def test_the_other_credentials_are_what_they_are_called():
    found = contents.CREDENTIALS

    assert {role for role, each in found.items() if each.account is None} == {
        "company",
        "other_company",
    }
    assert {role for role, each in found.items() if each.revoked} == {"revoked"}
    assert found["none"].permissions == frozenset()
    for role in ("full", "company", "other_company"):
        assert {str(each) for each in found[role].permissions} == {
            "balance:manage",
            "transaction:manage",
            "withdraw:manage",
            "pix_key:manage",
            "qrcode:manage",
        }


def test_the_history_and_the_paid_charge_leave_a_round_balance():
    total = contents.CHARGES["paid"].value.centavos - contents.FEE.centavos
    for each in contents.HISTORY:
        total += each.value.centavos if each.kind.endswith("_in") else -each.value.centavos
        if each.refunded:
            assert each.refunded <= each.value
            total -= each.refunded.centavos

    assert Money(total) == Money(100_000_00)


def test_every_tax_number_is_valid():
    parties = [*contents.COMPANIES.values(), *(each.other for each in contents.HISTORY)]
    numbers = [each.tax_number for each in parties]

    assert [strict.tax_number(number) for number in numbers] == numbers


def test_keys_fit_their_kind_and_are_nobody_else_s():
    keys = [*contents.pix_keys(ONE), *contents.pix_keys(OTHER)]

    assert [normal_key(each.type, each.key) for each in keys] == [each.key for each in keys]
    assert len({each.key for each in keys}) == len({each.provider_id for each in keys}) == len(keys)


def test_some_keys_have_an_id_that_is_no_uuid():
    """Banks differ in this; the surface shows a UUID all the same."""
    keys = contents.pix_keys(ONE)

    same = [each.public_id(ONE) == each.provider_id for each in keys]

    assert set(same) == {True, False}


def test_an_account_number_has_the_form_of_one():
    coordinates = contents.coordinates(ONE)

    assert re.fullmatch(r"\d{7}-\d", coordinates.account)
    assert coordinates != contents.coordinates(OTHER)


def test_a_reference_names_what_it_is_for_and_whose():
    assert contents.reference("other_company", ONE) == "demo-other-company-0b7d7e4a"


def test_every_kind_of_movement_is_in_the_history():
    kinds = {each.kind for each in contents.HISTORY}

    assert kinds == {contents.PIX_IN, "ted_in", "ted_out", "boleto_out"}


def test_a_token_is_of_one_account_and_always_the_same():
    assert contents.token(ONE) == contents.token(ONE) != contents.token(OTHER)
