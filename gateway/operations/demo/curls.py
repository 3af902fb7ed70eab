"""The first ten calls, ready to be pasted into a shell."""

from __future__ import annotations

import json
import shlex
import uuid
from datetime import date, timedelta
from urllib.parse import quote

from gateway.operations.demo.document import Demo

_A_WEEK = timedelta(days=6)


def curl_lines(demo: Demo, today: date, reference: str = "") -> list[str]:
    """
    Write one ``curl`` per banking operation, in the order of contract 4.1.

    Above each stands a comment with its number, by which documents speak of it.

    Args:
        demo: Whose account, credential, key and charge are used.
        today: In UTC; a payout is dated so, and the windows end there.
        reference: Of the payout; a fresh one when empty.
    """
    reference = reference or f"first-{uuid.uuid4().hex[:8]}"
    charge = quote(demo["charges"]["paid"], safe="")
    payout = f"/withdraw/{quote(reference, safe='')}"
    window = f"?init={today - _A_WEEK}&ends={today}"
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
