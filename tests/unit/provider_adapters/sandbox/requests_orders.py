"""What several tests of requests orders share."""

from __future__ import annotations

from gateway.banks.port.refunds import RefundOrder
from gateway.core.money import Money
from tests.unit.offering import E2E_ID
from tests.world.banks.harness import KEY


def refund(**fields: object) -> RefundOrder:
    plain = {
        "provider_key": KEY,
        "reference": "r-1",
        "payment_e2e_id": E2E_ID,
        "value": Money(1050),
        "description": "oops",
    }
    return RefundOrder(**{**plain, **fields})  # type: ignore[arg-type]
