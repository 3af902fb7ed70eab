"""What refusals mean to somebody at a page, where programs are told it in other words."""

from __future__ import annotations

from typing import Final

from gateway.domain.kernel.errors import ServiceError
from gateway.http import rendering


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


_MISSING: Final = "missing"
_EMPTY: Final = _("{field} is missing.")
"""Of a form; what programs are told speaks of JSON."""

_NOBODY: Final = _("Nothing that was sent says who asks.")
"""Of a call without a credential, a token or a session."""

_INPUTS: Final = ("SVC.VAL.", "VALIDATION_FAILED")


def wrong(refusal: ServiceError) -> str:
    """Return what is wrong with what was typed, ``{field}`` for its name; else nothing."""
    why = rendering.wrong(refusal)
    return _EMPTY if why and refusal.reason == _MISSING else why


def means(reason: str, code: str = "") -> str:
    """Say what a word for a refusal means, ``{field}`` for the name of what was sent."""
    if reason == _MISSING:
        return _EMPTY if not code or code.startswith(_INPUTS) else _NOBODY
    return rendering.means(reason)
