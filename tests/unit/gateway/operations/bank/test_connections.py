"""The bank behind an account, or the refusal for want of one."""

import pytest

from gateway.domain.kernel import errors
from gateway.operations.bank.connections import bank_of, paying_bank_of
from tests.unit.people import account
from tests.unit.refusals import refused
from tests.world.payouts import OneBank, ScriptedBank


@pytest.mark.parametrize("read_only", [True, False])
def test_an_account_s_bank_is_found_to_read_from(read_only: bool):
    banks = OneBank(ScriptedBank(), read_only=read_only)

    assert bank_of(banks, account()) == banks.of(account())


def test_a_bank_that_pays_out_is_found_to_pay_through():
    banks = OneBank(ScriptedBank())

    assert paying_bank_of(banks, account()) == banks.of(account())


def test_a_read_only_bank_is_refused_for_payouts():
    with refused(errors.PROVIDER_READ_ONLY) as refusal:
        paying_bank_of(OneBank(ScriptedBank(), read_only=True), account())
    assert (refusal.value.error.status, refusal.value.error.code) == (403, "SVC.ACC.005")


@pytest.mark.parametrize("find", [bank_of, paying_bank_of])
@pytest.mark.parametrize("read_only", [True, False])
def test_no_bank_at_all_is_refused(find, read_only: bool):
    with refused(errors.PROVIDER_NOT_CONFIGURED) as refusal:
        find(OneBank(ScriptedBank(), read_only=read_only, is_there=False), account())
    assert (refusal.value.error.status, refusal.value.error.code) == (422, "SVC.ACC.005")
