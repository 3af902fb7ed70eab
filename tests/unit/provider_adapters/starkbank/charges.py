"""What several tests of charges share."""

from __future__ import annotations

import json
from pathlib import Path

E2E = "E20018183202408281923xg35f29fxuz"
UUID = "b61d1db4165e4ba290b3a04f6ca5e3f2"
TAGS = [E2E.lower(), f"dynamic-brcode/{UUID}", "47544a724041488", f"d{UUID}"]
EMV = next(
    each["payload"]
    for each in json.loads(Path("tests/vectors/brcode.json").read_text(encoding="utf-8"))["valid"]
    if "starkbank" in each["payload"]
)
INVOICE = {
    "id": "5941925571985408", "amount": 1050, "nominalAmount": 1000, "status": "created",
    "brcode": EMV, "created": "2026-11-20T12:00:00.886319+00:00", "name": "Maria",
    "taxId": "529.982.247-25", "due": "2026-11-21T12:00:00+00:00", "expiration": 60,
    "tags": ["ref:1"],
}  # fmt: skip
BRCODE = {
    "id": EMV, "uuid": UUID, "amount": 0, "created": "2026-11-20T12:00:00+00:00",
    "expiration": 3600, "tags": ["ref:1"],
}  # fmt: skip
DEPOSIT = {
    "id": "5160583015956480", "amount": 10005, "type": "pix", "name": "Mock Ltd",
    "taxId": "11.222.333/0001-81", "tags": TAGS, "created": "2026-11-20T12:00:05+00:00",
}  # fmt: skip
