"""What of the bank's documents is read, and that a transcript shows nobody's data."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters.woovi import documents
from tests.world.tables import cases

PERSONAL = {
    "name", "taxID", "email", "phone", "key", "pixKey", "destinationAlias", "comment",
    "description", "error", "infoPagador", "brCode", "account", "branch", "appID",
    "authorization", "url", "correlationID", "value",
}  # fmt: skip


def test_nobody_s_data_is_harmless():
    assert PERSONAL.isdisjoint(documents.HARMLESS)


@cases("value", [b"100.5", b'"100"', b"true", b"null"])
def test_an_amount_is_whole_centavos(value):
    body = b'{"payment": {"correlationID": "k", "status": "CREATED", "value": %s}}' % value

    with pytest.raises(msgspec.ValidationError):
        documents.PAYMENT.decode(body)


def test_a_balance_without_what_is_blocked_is_none():
    with pytest.raises(msgspec.ValidationError):
        documents.ACCOUNT.decode(b'{"account": {"accountId": "a", "balance": {"total": 1}}}')
