"""The bank behind an account, or the refusal for want of one."""

from dataclasses import replace
from functools import partial

import pytest

from gateway.banks.connections import (
    bank_of,
    changing_bank_of,
    paying_bank_of,
    refuse_letters,
)
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core import errors
from tests.unit.refusals import refused
from tests.world.payouts import CAREFUL, OneBank, ScriptedBank
from tests.world.people import account


@pytest.mark.parametrize("read_only", [True, False])
def test_the_bank_of_an_account_is_found_for_reads(read_only: bool):
    banks = OneBank(ScriptedBank(), read_only=read_only)

    assert bank_of(banks, account()) == banks.of(account())


def test_a_paying_bank_is_found_for_payouts():
    banks = OneBank(ScriptedBank())

    assert paying_bank_of(banks, account(), PayoutMethod.PIX) == banks.of(account())


def test_a_read_only_bank_is_refused_for_payouts():
    with refused(errors.PROVIDER_READ_ONLY) as refusal:
        paying_bank_of(OneBank(ScriptedBank(), read_only=True), account(), PayoutMethod.PIX)
    assert (refusal.value.error.status, refusal.value.error.code) == (403, "SVC.ACC.005")


@pytest.mark.parametrize(
    "find", [bank_of, changing_bank_of, partial(paying_bank_of, method=PayoutMethod.PIX)]
)
@pytest.mark.parametrize("read_only", [True, False])
def test_no_bank_at_all_is_refused(find, read_only: bool):
    with refused(errors.PROVIDER_NOT_CONFIGURED) as refusal:
        find(OneBank(ScriptedBank(), read_only=read_only, is_there=False), account())
    assert (refusal.value.error.status, refusal.value.error.code) == (422, "SVC.ACC.005")


LETTERS, DIGITS = "12ABC34501DE35", "11222333000181"
DIGITS_ONLY = replace(CAREFUL, alphanumeric_cnpj=False)


@pytest.mark.parametrize("field", ["destination.tax_number", "payer.tax_number", "key"])
def test_a_cnpj_with_letters_is_refused_when_the_bank_takes_digits_alone(field: str):
    """The number is valid: the bank is the reason."""
    bank = OneBank(ScriptedBank(capabilities=DIGITS_ONLY))

    with refused(errors.PAYLOAD_INVALID) as refusal:
        refuse_letters(bank, account(), {"other": DIGITS, field: LETTERS})
    assert (refusal.value.field, refusal.value.reason) == (field, "bank_takes_digits")


def test_an_alphanumeric_cnpj_is_accepted_by_every_other_bank():
    refuse_letters(OneBank(ScriptedBank()), account(), {"key": LETTERS})


@pytest.mark.parametrize(
    "number", [DIGITS, "52998224725", "", "maria@example.com", "+5511987654321", "X" * 14]
)
def test_any_other_number_is_accepted_by_a_bank_without_alphanumeric_cnpj(number: str):
    refuse_letters(OneBank(ScriptedBank(capabilities=DIGITS_ONLY)), account(), {"key": number})


def test_without_a_bank_letters_are_not_checked():
    refuse_letters(OneBank(ScriptedBank(), is_there=False), account(), {"key": LETTERS})
