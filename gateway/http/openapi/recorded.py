"""
Answers of the sandbox, as examples of payouts and of the partners' operations.

A mock server answers with them, so each is an answer that was given: a payout that is ``failed``
has its reason, and a BR Code its checksum. ``KEEP=1`` with
``tests/contract/openapi/test_recorded.py`` records them anew; without it the test compares them
with the sandbox's present answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

FILE: Final = Path(__file__).with_name("recorded.json")


_ORDERS: Final = {"backoffice.withdraw_pix": "pix", "backoffice.withdraw_bank": "bank_account"}
"""Back-office orders that are answered as a partner's payout, each with its recorded word."""


def recorded(route: str, status: int) -> Mapping[str, Mapping[str, Any]]:
    """Return the recorded answers of a route with a status, by a word for each; none elsewhere."""
    if route in _ORDERS:
        answers = recorded("banking.payout_create", status)
        return {word: each for word, each in answers.items() if word == _ORDERS[route]}
    return _answers().get(route, {}).get(str(status), {})


@cache
def _answers() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    found: Mapping[str, Mapping[str, Mapping[str, Any]]] = orjson.loads(FILE.read_bytes())
    return found
