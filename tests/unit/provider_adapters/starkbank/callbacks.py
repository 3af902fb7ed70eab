"""What several tests of callbacks share."""

from __future__ import annotations

import json

from gateway.banks.port.provider_callbacks import Delivery
from provider_adapters.testing.verify.stage import SentHeaders
from tests.world.banks.signers import Signer, ecdsa

BANK = ecdsa()


def event(subscription: str, **log: object) -> dict[str, object]:
    return {
        "id": "6234355449987072", "created": "2026-11-20T12:00:00.784479+00:00",
        "subscription": subscription, "workspaceId": "4848484848484848", "isDelivered": False,
        "log": {"id": "1", "type": "success", "errors": [], **log},
    }  # fmt: skip


def delivery(body: bytes, signature: str) -> Delivery:
    return Delivery(headers=SentHeaders({"digital-signature": signature}), body=body)


def signed(document: object, signer: Signer = BANK) -> Delivery:
    body = json.dumps({"event": document}).encode()
    return delivery(body, signer.sign(body))
