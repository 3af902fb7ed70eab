"""
What the gateway does for a balance, as lean as a peer in Python would write it.

Credential by digest, scope, state, permission, translation, a counter, two
histograms and a JSON line. Left out, in the peers' favour: every limit (quota,
throttle, bulkhead, breaker, sizes, deadlines), refusals with a body, revocation
across processes, redaction; lines are written when eight kilobytes are there.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import re
import sys
import time
import uuid
from dataclasses import dataclass
from http import HTTPStatus

import orjson
from prometheus_client import Counter, Histogram

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LIFETIME_S = 5.0
_PERMISSION = "balance:read"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_COUNTED = Counter("requests", "Requests answered.", ("route", "method", "status"))
_TIMED = Histogram("request_seconds", "A request.", ("route", "method"), buckets=_BUCKETS)
_BANK_TIMED = Histogram("bank_seconds", "A call of the bank.", ("bank",), buckets=_BUCKETS)
_OK = _COUNTED.labels("balance", "GET", "200")
_DURATION = _TIMED.labels("balance", "GET")
_BANK_DURATION = _BANK_TIMED.labels("bench")


@dataclass(slots=True)
class Kept:
    """A record and when it must be asked for again."""

    until: float
    company: str
    digest: bytes = b""
    permissions: frozenset[str] = frozenset()
    active: bool = True
    verified: bool = True


class Work:
    """Everything but the server and the client."""

    def __init__(self) -> None:
        """Know one credential and one account, each asked for anew when it is too old."""
        told = json.loads(os.environ["BENCH_PEER"])
        self.port, self.bank = int(told["port"]), str(told["bank"])
        self._client_id, self._account_id = str(told["client_id"]), str(told["account"])
        self._key, self._digest = str(told["key"]).encode(), bytes.fromhex(told["digest"])
        self._bearer = f"Bearer {told['token']}"
        self._credentials: dict[str, Kept] = {}
        self._accounts: dict[str, Kept] = {}

    def refused(self, authorization: str, account_id: str) -> int:
        """Return the status of a refusal; 0 lets the request pass."""
        scheme, _, encoded = authorization.partition(" ")
        if scheme != "Basic":
            return HTTPStatus.UNAUTHORIZED
        client_id, _, secret = base64.b64decode(encoded).decode().partition(":")
        credential = self._credential(client_id)
        sent = hmac.digest(self._key, secret.encode(), "sha256")
        if credential is None or not hmac.compare_digest(sent, credential.digest):
            return HTTPStatus.UNAUTHORIZED
        if not _UUID.fullmatch(account_id):
            return HTTPStatus.NOT_FOUND
        account = self._account(account_id)
        if account is None or account.company != credential.company:
            return HTTPStatus.NOT_FOUND
        allowed = account.active and account.verified and _PERMISSION in credential.permissions
        return 0 if allowed else HTTPStatus.FORBIDDEN

    def asking(self, trace_id: str) -> dict[str, str]:
        """Make the headers of the call of the bank."""
        return {"Authorization": self._bearer, "X-Trace-ID": trace_id}

    def told(self, trace_id: str, began: float, bank_s: float) -> None:
        """Count and log an answer."""
        took_s = time.perf_counter() - began
        _OK.inc()
        _DURATION.observe(took_s)
        _BANK_DURATION.observe(bank_s)
        line = {
            "ts": time.time(),
            "event": "request",
            "trace_id": trace_id,
            "route": "balance",
            "method": "GET",
            "status": 200,
            "duration_s": took_s,
            "bank_s": bank_s,
            "client_id": self._client_id,
            "account_id": self._account_id,
        }
        sys.stdout.buffer.write(orjson.dumps(line) + b"\n")

    def _credential(self, client_id: str) -> Kept | None:
        kept = self._credentials.get(client_id)
        if kept is not None and kept.until > time.monotonic():
            return kept
        if client_id != self._client_id:
            return None
        kept = Kept(
            until=time.monotonic() + _LIFETIME_S,
            company="bench",
            digest=self._digest,
            permissions=frozenset({_PERMISSION}),
        )
        self._credentials[client_id] = kept
        return kept

    def _account(self, account_id: str) -> Kept | None:
        kept = self._accounts.get(account_id)
        if kept is not None and kept.until > time.monotonic():
            return kept
        if account_id != self._account_id:
            return None
        kept = Kept(until=time.monotonic() + _LIFETIME_S, company="bench")
        self._accounts[account_id] = kept
        return kept


def new_trace_id() -> str:
    """Make a random UUID."""
    return str(uuid.uuid4())


def translated(body: bytes) -> bytes:
    """Write the bank's balance as the contract has it."""
    found = orjson.loads(body)
    balance, blocked = found["saldo_centavos"], found["bloqueado_centavos"]
    return (
        f'{{"balance":{balance // 100}.{balance % 100:02},'
        f'"blocked":{blocked // 100}.{blocked % 100:02},'
        f'"updated_at":"{found["atualizado_em"][:19]}Z"}}'
    ).encode()


def answering(trace_id: str) -> dict[str, str]:
    """Make the headers of an answer."""
    return {"X-Trace-ID": trace_id, "Cache-Control": "no-store"}
