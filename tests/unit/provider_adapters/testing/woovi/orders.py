"""What several tests of orders share."""

from __future__ import annotations

PAYMENT = {
    "type": "PIX_KEY",
    "value": 1050,
    "destinationAlias": "maria@example.com",
    "destinationAliasType": "EMAIL",
    "correlationID": "p1",
    "autoApprove": True,
}
