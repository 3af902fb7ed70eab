"""What several tests of translate share."""

from __future__ import annotations

from tests.unit.provider_adapters.starkbank.making import KEY

MOVEMENT = {
    "id": "1", "amount": -1050, "description": "Pix\nto Maria", "source": "transfer/2",
    "tags": [f"ref:{KEY}"], "created": "2026-11-20T12:00:00.532530+00:00", "balance": 1,
}  # fmt: skip


class Drift:
    def __init__(self) -> None:
        self.counted = 0

    def __call__(self) -> None:
        self.counted += 1
