"""What several tests of payouts share."""

from __future__ import annotations

from tests.world.banks.harness import KEY
from tests.world.banks.woovi import (
    SETTLED,
)

SHOWN = {
    "correlationID": KEY,
    "value": 1050,
    "status": "CREATED",
    "destinationAlias": "maria@example.com",
    "destinationAliasType": "EMAIL",
}
PAID = {"value": 1050, "endToEndId": SETTLED, "time": "2026-11-22T10:31:05.123Z"}
