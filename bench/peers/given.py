"""What every peer is told."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """
    Two ports, one credential, one account.

    Attributes:
        digest: HMAC-SHA-256 of the credential's secret under ``key``, in hexadecimal.
        bank_path, token: Of the balance at the bank.
    """

    port: int
    bank: int
    key: str
    client_id: str
    digest: str
    account: str
    bank_path: str
    token: str


def given() -> Given:
    """Read it from the environment of the process."""
    return Given(**json.loads(os.environ["BENCH_PEER"]))
