"""Whether an answer speaks of what was asked: a wrong one must never pass for success."""

from __future__ import annotations

import re

from gateway.domain.kernel import strict

_E2E = re.compile(r"[ED][0-9]{8}[0-9]{12}[A-Za-z0-9]{11}", re.ASCII)
_LONGEST_ID = 128


def is_e2e_id(text: str) -> bool:
    """Say whether a text has the form of the central bank's end-to-end id (32 characters)."""
    return _E2E.fullmatch(text) is not None


def provider_id(text: str) -> str:
    """
    Let a bank's id through that can be stored and sent back.

    Raises:
        ValueError: when it is longer than 128 characters or holds control characters.
    """
    return strict.plain_text(text, _LONGEST_ID)
