"""What a message may say: the catalogue's words, or which field is wrong and what is wanted."""

from __future__ import annotations

import re

from gateway.core.catalogue import ErrorCode
from gateway.core.reasons import REASONS

_FIELD = r"(?:[a-z0-9_]+(?:\.[a-z0-9_]+)*|Something that was sent)"
_SENTENCES = {
    word: re.compile(re.escape(says).replace(re.escape("{field}"), _FIELD))
    for word, says in REASONS.items()
}
_SENTENCES["not_one_of"] = re.compile(
    rf"{_FIELD} must be (?:one of the documented words|(?:[\w.*]+(?:, [\w.*]+)* or )?[\w.*]+)\."
)
"""With the words, where they are few."""
_NAMED = re.compile(r"SVC\.VAL\.\d{3}|SVC\.PIX\.01[234]|VALIDATION_FAILED|SVC\.GTW\.009")
_MEANT = {
    "window_invalid": {"window_backwards", "window_long"},
    "payout_date_not_today": {"not_today"},
    "number_invalid": {"positive_integer", "repeated"},
    "amount_not_positive": {"not_positive"},
    "malformed_request": set[str](),
}
"""The words of one meaning, where its code has another meaning too."""
_EXPLAINED = {"SVC.GTW.005", "SVC.GTW.008", "SVC.GTW.009"}
"""
With why: what the bank refuses in the back office and in the sandbox, and more credentials of
the sandbox than an address gets.
"""


def means(message: str, error: ErrorCode) -> bool:
    """Say whether a message is one of an error's: its own, with why, or a sentence of a field."""
    if message == error.message:
        return True
    if error.code in _EXPLAINED and message.startswith(f"{error.message} "):
        return True
    if not _NAMED.fullmatch(error.code):
        return False
    words = _MEANT.get(error.name, REASONS.keys())
    return any(_SENTENCES[word].fullmatch(message) for word in words)
