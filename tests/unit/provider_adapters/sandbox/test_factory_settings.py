"""The sandbox provider's settings."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from gateway.domain.bank.provider_options import Option
from gateway.domain.bank.providers import Capabilities, Repeat
from provider_adapters.sandbox.factory import SandboxSettings


def test_by_default_all_the_bank_can_do_is_declared():
    assert SandboxSettings().capabilities() == Capabilities(
        operations=frozenset(option.value for option in Option),
        payouts=True,
        repeat=Repeat.SAME_ANSWER,
        lookup_by_key=True,
        absent_after=timedelta(seconds=5),
        account_credentials=True,
        largest_page=500,
        alphanumeric_cnpj=True,
    )


def test_every_kind_of_provider_can_be_tried():
    settings = msgspec.convert(
        {
            "payouts": False,
            "repeat": "ignores",
            "lookup_by_key": False,
            "absent_after_s": None,
            "lacks": list(Option),
            "alphanumeric_cnpj": False,
        },
        SandboxSettings,
    )

    assert settings.capabilities() == Capabilities(
        payouts=False, account_credentials=True, largest_page=500
    )


def test_one_optional_operation_can_be_missing():
    settings = msgspec.convert({"lacks": ["create_refund"]}, SandboxSettings)

    operations = settings.capabilities().operations
    assert {option.value for option in Option} - operations == {"create_refund"}


@pytest.mark.parametrize(
    "given",
    [{"repeat": "never"}, {"absent_after_s": -1}, {"token": "x"}, {"lacks": ["get_balance"]}],
)
def test_what_is_not_a_setting_is_refused(given: dict[str, object]):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, SandboxSettings)
