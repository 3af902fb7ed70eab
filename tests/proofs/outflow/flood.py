"""
Pay 159 strangers in 30 seconds at a running gateway, until the guard stops it.

    PIXGATE_OUTFLOW_GUARD=stop make run
    .venv/bin/pixgate demo --json > demo.json
    .venv/bin/python -m tests.proofs.outflow.flood demo.json [URL] [URL of the operations listener]
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp

PAYEES = 159
SECONDS = 30


def payment(number: int, run: str) -> dict[str, Any]:
    """Return a payout of R$ 150.00 to a stranger."""
    return {
        "reference": f"{run}-{number}",
        "method": "pix",
        "value": 150.00,
        "date": datetime.now(UTC).date().isoformat(),
        "description": "flood",
        "destination": {
            "name": "Favorecido",
            "tax_number": "52998224725",
            "key_type": "email",
            "key": f"{run}-{number}@example.com",
        },
    }


async def _pay(partner: aiohttp.ClientSession, path: str, began: float) -> None:
    """Pay, and print when the first stop was answered."""
    paid, run, stopped = 0, uuid4().hex[:8], 0.0
    answers: Counter[int] = Counter()
    for number in range(PAYEES):
        due = began + number * SECONDS / PAYEES
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        async with partner.post(path, json=payment(number, run)) as answer:
            body = await answer.json()
        answers[answer.status] += 1
        paid += answer.status == HTTPStatus.OK
        if answer.status == HTTPStatus.FORBIDDEN and not stopped:
            stopped = time.monotonic() - began
            sys.stdout.write(f"stopped after {stopped:.1f} s, {paid} paid: {body}\n")
    sys.stdout.write(f"answers by status: {dict(answers)}\n")


async def _watch(operations: str, began: float) -> None:
    """Print when the metric of the alert shows it."""
    async with aiohttp.ClientSession() as reader:
        while True:
            async with reader.get(f"{operations}/metrics") as answer:
                lines = (await answer.text()).splitlines()
            for each in lines:
                if each.startswith("pixgate_outflow_outside") and float(each.split()[-1]):
                    sys.stdout.write(f"after {time.monotonic() - began:.1f} s: {each}\n")
                    return
            await asyncio.sleep(1)


async def main(demo: Any, url: str, operations: str) -> None:
    """Pay, and look at the metric beside it."""
    who = demo["credentials"]["full"]
    pair = f"{who['client_id']}:{who['client_secret']}"
    headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    path = f"{url}/baas/v1/account/{demo['accounts']['main']['id']}/withdraw"
    began = time.monotonic()
    async with aiohttp.ClientSession(headers=headers) as partner, asyncio.timeout(120):
        await asyncio.gather(_pay(partner, path, began), _watch(operations, began))


if __name__ == "__main__":
    given = sys.argv[1:] + ["http://127.0.0.1:8080", "http://127.0.0.1:9090"][len(sys.argv) - 2 :]
    asyncio.run(main(json.loads(Path(given[0]).read_text(encoding="utf-8")), given[1], given[2]))
