"""The bank's documents."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters.starkbank import documents
from tests.world.tables import cases

SECRET = {
    "accountNumber", "branchCode", "brcode", "content", "description", "externalId", "id", "key",
    "name", "tags", "taxId", "url", "uuid",
}  # fmt: skip


def test_no_field_with_people_or_keys_in_it_is_harmless():
    assert documents.HARMLESS.isdisjoint(SECRET)


@cases(
    ("decoder", "body"),
    [
        (documents.BALANCES, b'{"balances": [{"amount": "1", "currency": "BRL"}]}'),
        (documents.BALANCES, b'{"balances": [{"amount": 1.5, "currency": "BRL"}]}'),
        (documents.MOVEMENTS, b'{"transactions": [{"id": "1", "amount": 1, "created": "2026"}]}'),
        (
            documents.MOVEMENTS,
            b'{"transactions": [{"id": "1", "amount": 1, "created": "2026-01-01T00:00:00"}]}',
        ),
        (documents.KEYS, b'{"keys": {}}'),
        (documents.FOUND, b'{"key": {"id": "a", "type": "evp"}}'),
        (documents.TRANSFERS, b'{"transfers": [{"id": 1, "amount": 1, "status": "created"}]}'),
        (documents.REFUSAL, b'{"errors": [{"message": "no"}]}'),
        (documents.DEPOSITS, b'{"deposits": [{"id": "1", "amount": -1}]}'),
        (documents.PUBLIC_KEYS, b'{"publicKeys": [{}]}'),
    ],
)
def test_another_shape_is_not_read(decoder: msgspec.json.Decoder[object], body: bytes):
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(body)


def test_names_are_in_camel_case_and_more_is_not_minded():
    body = b'{"key": {"id": "a", "type": "evp", "name": "M", "ispb": "1", "branchCode": "2", '
    found = documents.FOUND.decode(body + b'"accountNumber": "3", "more": {}}}')

    assert (found.inside.branch_code, found.inside.account_number) == ("2", "3")
