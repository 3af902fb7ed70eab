"""PIX keys into documents."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.core.account import BankCoordinates
from gateway.core.calls import Caller
from gateway.http.rendering import dumps
from gateway.pix_keys import documents
from gateway.pix_keys.model import OwnedKey
from tests.world.people import account, principal

AT = BankCoordinates(bank_number="999", ispb="99999999", branch="0001", account="1234567-8")


CALLER = Caller(principal(), dataclasses.replace(account(), coordinates=AT))


def shown(document: Any) -> Any:
    return msgspec.json.decode(dumps(document))


def test_a_pix_key_document_has_the_contract_s_fields():
    """Contract 2.8: with the id used to read them."""
    key = PixKey(
        provider_id="CH1",
        key="loja@example.com",
        type=PixKeyType.EMAIL,
        status=PixKeyStatus.PENDING,
        created_at=None,
    )

    document = shown(documents.pix_keys([OwnedKey("an-id", key)], CALLER))

    assert document == {
        "data": [
            {
                "id": "an-id",
                "key": "loja@example.com",
                "type": "email",
                "status": "pending",
                "created_at": "",
            }
        ],
        "meta": {"total": 1},
    }
