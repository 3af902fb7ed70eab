"""Documents: strict where a mistake would matter, and quiet in transcripts."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters.asaas import documents
from tests.world.banks.asaas import TRANSFER
from tests.world.tables import cases


def test_a_document_of_the_documentation_is_read():
    found = documents.TRANSFER.decode(msgspec.json.encode(TRANSFER))

    assert (found.id, found.status) == (TRANSFER["id"], "PENDING")
    assert bytes(found.value) == b"10.5"


@cases("field", ["id", "value", "status"])
def test_a_transfer_without_what_it_is_about_is_none(field: str):
    document = {name: value for name, value in TRANSFER.items() if name != field}

    with pytest.raises(msgspec.ValidationError):
        documents.TRANSFER.decode(msgspec.json.encode(document))


@cases(
    "field",
    [
        "name",
        "cpfCnpj",
        "ownerName",
        "description",
        "externalReference",
        "pixAddressKey",
        "key",
        "account",
        "payload",
        "failReason",
        "authToken",
        "url",
    ],
)
def test_a_transcript_shows_nothing_of_people_or_secrets(field: str):
    assert field not in documents.HARMLESS
