"""The bodies of payouts are documented as they are read."""

from __future__ import annotations

import msgspec
import pytest

from gateway.payouts import bodies as payout
from gateway.payouts.bodies import (
    BankAccountDestinationBody,
    BankAccountPayoutBody,
    PixDestinationBody,
    PixPayoutBody,
)


def names(shape: type[msgspec.Struct]) -> set[str]:
    return {each.encode_name for each in msgspec.structs.fields(shape)}


@pytest.mark.parametrize("shape", [PixPayoutBody, BankAccountPayoutBody])
def test_the_documented_body_has_the_fields_the_reader_accepts(shape: type[msgspec.Struct]):
    """The document is made from the struct, and the reader must use the same names."""
    assert names(shape) == payout._KNOWN


def test_the_documented_destinations_have_the_fields_the_reader_accepts():
    assert names(PixDestinationBody) == set(payout._PIX_FIELDS)
    assert names(BankAccountDestinationBody) == set(payout._BANK_FIELDS)
