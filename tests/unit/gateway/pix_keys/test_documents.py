"""PIX keys into documents."""

from __future__ import annotations

from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.pix_keys import documents
from gateway.pix_keys.model import OwnedKey
from tests.unit.partner_documents import CALLER, shown


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
