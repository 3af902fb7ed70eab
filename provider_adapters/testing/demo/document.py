"""The demo as it is printed and kept: ids, secrets and references; and its first ten calls."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
import uuid
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

import msgspec

from gateway.core.audit_context import RuleViolation


class Pair(TypedDict):
    """A credential with its secret in clear: the demo's alone are ever kept so."""

    client_id: str
    client_secret: str


class DemoUrls(TypedDict):
    """Where the parts of this deployment listen, without a trailing slash."""

    base_url: str
    ops_url: str
    sandbox_bank_url: str
    sandbox_control_url: str


class Demo(DemoUrls):
    """
    Everything a first call or a test needs, by role in ``contents``.

    Companies and accounts have an ``id``; ``pix_keys`` are ids of the banking surface, by account;
    users have ``email``, ``password`` and, but for the viewer, ``totp_secret`` of an app.
    """

    companies: dict[str, dict[str, str]]
    accounts: dict[str, dict[str, str]]
    credentials: dict[str, Pair]
    pix_keys: dict[str, list[str]]
    charges: dict[str, str]
    users: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class DemoFile:
    """The demo in one JSON file, with its secrets; a reader sees the old or the new, never half."""

    path: Path

    def read(self) -> Demo | None:
        """Return what is kept; None when there is no file."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Demo)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as problem:
            message = f"{self.path} cannot be read as a demo; remove it to make another"
            raise RuleViolation(message) from problem

    def begin(self, demo: Demo) -> Demo:
        """Keep the first demo; return that of another process if it was faster."""
        written = self._written(demo)
        try:
            self.path.hardlink_to(written)
        except FileExistsError:
            return self.read() or demo
        finally:
            written.unlink()
        return demo

    def replace(self, demo: Demo) -> None:
        """Keep another state of it."""
        self._written(demo).replace(self.path)

    def _written(self, demo: Demo) -> Path:
        text = msgspec.json.format(msgspec.json.encode(demo), indent=2) + b"\n"
        return write_beside(self.path, text, 0o600)


def write_beside(file: Path, content: bytes, mode: int) -> Path:
    """Write a file that can replace another in one step; RuleViolation if that is not possible."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        with os.fdopen(number, "wb") as written:
            written.write(content)
            written.flush()
            os.fsync(number)
            os.fchmod(number, mode)
    except OSError as problem:
        message = f"{file} cannot be written: {problem.strerror}"
        raise RuleViolation(message) from problem
    return Path(name)


def curl_lines(demo: Demo, today: date, reference: str = "") -> list[str]:
    """
    Write one ``curl`` per banking operation, in the order of contract 4.1.

    Above each stands a comment with its number, by which documents refer to it. ``today`` is in
    UTC; ``reference`` is that of the payout, a fresh one when empty.
    """
    reference = reference or f"first-{uuid.uuid4().hex[:8]}"
    charge = quote(demo["charges"]["paid"], safe="")
    payout = f"/withdraw/{quote(reference, safe='')}"
    window = f"?init={today - timedelta(days=6)}&ends={today}"
    calls = [
        _curl(demo, "the balance, live from the bank", "/balance"),
        _curl(demo, "the account's PIX keys", "/pix/keys"),
        _curl(demo, "one of them", f"/pix/keys/{demo['pix_keys']['main'][0]}"),
        _curl(demo, "a charge, with the text to copy and paste", f"/pix/qrcode/{charge}"),
        _curl(demo, "the payment of that charge", f"/pix/transactions/{charge}"),
        _curl(demo, "the statement of a week", f"/transactions{window}"),
        _curl(demo, "pay R$ 10.50 to a PIX key", "/withdraw", _order(reference, today)),
        _curl(demo, "that payout: a moment later it is paid", payout),
        _curl(demo, "the payouts of a week", f"/withdraws{window}"),
        _curl(demo, "cancelling is not available: always 501", payout, ["-X", "DELETE"]),
    ]
    return [f"# {number}. {call}" for number, call in enumerate(calls, 1)]


def _curl(demo: Demo, meaning: str, path: str, options: list[str] | None = None) -> str:
    pair = demo["credentials"]["full"]
    url = f"{demo['base_url']}/baas/v1/account/{demo['accounts']['main']['id']}{path}"
    user = f"{pair['client_id']}:{pair['client_secret']}"
    return f"{meaning}\n{shlex.join(['curl', '-sS', '-u', user, *(options or []), url])}"


def _order(reference: str, today: date) -> list[str]:
    body = (
        f'{{"method": "pix", "reference": {json.dumps(reference)}, "value": 10.50, '
        f'"date": "{today}", '
        '"destination": {"name": "Maria Silva", "tax_number": "529.982.247-25", '
        '"key_type": "email", "key": "maria@example.com"}}'
    )
    return ["-H", "Content-Type: application/json", "-d", body]
