"""Replies of a gateway, and what a call of the client makes of them: no socket, no clock."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pixgate_client.exchange import Answer, Flow, NoAnswer, Reply, Request
from pixgate_client.orders import PixOrder
from pixgate_client.payouts import pay
from pixgate_client.retries import Clock, Tries

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
REFERENCE = "order-1042"
ORDER = PixOrder(
    value=Decimal("10.50"),
    tax_number="529.982.247-25",
    key_type="email",
    key="maria@example.com",
    reference=REFERENCE,
)
PARTY = {"name": "Loja Exemplo Ltda", "tax_number": "11222333000181"}
PAYOUT: Mapping[str, Any] = {
    "reference": REFERENCE,
    "method": "pix",
    "status": "processing",
    "value": 10.5,
    "date": "2026-11-20",
    "description": "",
    "e2e_id": "",
    "created_at": "2026-11-20T12:00:08Z",
    "updated_at": "2026-11-20T12:00:08Z",
    "settled_at": "",
    "origin": {
        **PARTY,
        "bank_number": "999",
        "ispb": "99999999",
        "branch": "0001",
        "account": "8846303-2",
    },
    "destination": {"tax_number": "529.982.247-25", "key_type": "email", "key": "m@example.com"},
}
FAILED = {**PAYOUT, "status": "failed", "failure": {"code": "REJECTED", "message": "No."}}
HTML = b"<html><body>502 Bad Gateway</body></html>"


def answer(status: int, document: object, **headers: str) -> Answer:
    """Answer with a document; names of headers have underscores for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, json.dumps(document).encode())


def refused(status: int, code: str, **headers: str) -> Answer:
    document = {"code": code, "message": "A sentence.", "trace_id": "t-1"}
    return answer(status, document, **headers)


ACCEPTED = answer(200, PAYOUT)
CUT = NoAnswer(ConnectionResetError(), may_have_left=True)
UNREACHED = NoAnswer(ConnectionRefusedError(), may_have_left=False)


@dataclass
class Told:
    """
    What a call did with replies.

    Attributes:
        result: What it returned; None if it raised.
    """

    requests: list[Request] = field(default_factory=list)
    result: Any = None
    error: Exception | None = None

    @property
    def kind(self) -> str:
        return type(self.error or self.result).__name__


@dataclass
class Time:
    """A clock that goes on by what a call waits, and jitter that spreads nothing."""

    at_s: float = 0.0
    chance: float = 1.0

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: NOON, monotonic=lambda: self.at_s, chance=lambda: self.chance)


def told(flow: Flow[Any], replies: Sequence[Reply], time: Time) -> Told:
    """Carry a call out; the last reply comes again and again."""
    done = Told()
    try:
        request = next(flow)
        while True:
            time.at_s += request.delay_s
            reply = replies[min(len(done.requests), len(replies) - 1)]
            done.requests.append(request)
            request = flow.send(reply)
    except StopIteration as end:
        done.result = end.value
    except Exception as problem:  # noqa: BLE001 - the test looks at it
        done.error = problem
    return done


def paid(
    *replies: Reply, first: bool = False, deadline_s: float = 60.0, lost: set[str] | None = None
) -> Told:
    """Pay, with these replies; ``lost`` is what the client remembers of earlier calls."""
    time, lost = Time(), set() if lost is None else lost
    flow = pay("/withdraw", ORDER, Tries(time.clock, deadline_s), first=first, lost=lost)
    return told(flow, replies, time)
