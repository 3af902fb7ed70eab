"""The bodies of payouts are documented as they are read."""

from __future__ import annotations

import json

import msgspec
import pytest

from gateway.banks.port.payout_orders import AccountType, PayoutMethod
from gateway.core import errors
from gateway.core.schemas import CHOICES
from gateway.payouts import bodies as payout
from gateway.payouts.bodies import (
    BankAccountDestinationBody,
    BankAccountPayoutBody,
    BankAccountWithdrawBody,
    PayoutBody,
    PixDestinationBody,
    PixPayoutBody,
    PixWithdrawBody,
)
from tests.unit.refusals import refusal_of
from tests.world.people import ACCOUNT, posted

PIX = {"tax_number": "529.982.247-25", "key_type": "evp", "key": ACCOUNT}
BANK = {"tax_number": "52998224725", "bank_number": "341", "branch": "1", "account": "12-x"}
COMMON = {"reference": "order-1", "value": 10.5, "date": "2026-11-20"}
SENT = {
    PixPayoutBody: {**COMMON, "method": "pix", "destination": PIX},
    BankAccountPayoutBody: {**COMMON, "method": "bank_account", "destination": BANK},
    PixWithdrawBody: {**COMMON, "destination": PIX},
    BankAccountWithdrawBody: {**COMMON, "destination": BANK},
}
NAMED = {
    PixWithdrawBody: PayoutMethod.PIX,
    BankAccountWithdrawBody: PayoutMethod.BANK_ACCOUNT,
}


def names(shape: type[msgspec.Struct]) -> set[str]:
    return {each.encode_name for each in msgspec.structs.fields(shape)}


@pytest.mark.parametrize("shape", [PixPayoutBody, BankAccountPayoutBody])
def test_the_documented_body_has_the_fields_that_are_read(shape: type[msgspec.Struct]):
    """The struct makes the document, the reader reads: they must name the same."""
    assert names(shape) == payout._KNOWN


def test_the_documented_destinations_have_the_fields_that_are_read():
    assert names(PixDestinationBody) == set(payout._PIX_FIELDS)
    assert names(BankAccountDestinationBody) == set(payout._BANK_FIELDS)


@pytest.mark.parametrize("shape", SENT)
def test_a_body_with_all_that_is_required_is_read(shape: type[msgspec.Struct]):
    required = {each.encode_name for each in msgspec.structs.fields(shape) if each.required}

    assert required == set(SENT[shape])
    payout.PayoutReader(method=NAMED.get(shape))(posted(json.dumps(SENT[shape])))


@pytest.mark.parametrize("shape", SENT)
def test_a_body_without_something_required_is_not_read(shape: type[msgspec.Struct]):
    for missing in SENT[shape]:
        body = {name: value for name, value in SENT[shape].items() if name != missing}
        reader = payout.PayoutReader(method=NAMED.get(shape))

        assert refusal_of(lambda b=body, r=reader: r(posted(json.dumps(b)))) is errors.FIELD_MISSING


def test_a_payout_is_one_of_its_methods():
    forms = CHOICES[PayoutBody].forms

    assert [each.value for each in PayoutMethod] == ["pix", "bank_account"]
    assert forms == (PixPayoutBody, BankAccountPayoutBody)


def test_the_account_types_are_those_that_are_read():
    shown = msgspec.json.schema(BankAccountDestinationBody)["$defs"]["BankAccountDestinationBody"]

    words = shown["properties"]["account_type"]["enum"]
    assert sorted(words) == sorted(each.value for each in AccountType)
