"""
One-time codes: of an authenticator app (RFC 6238), and recovery codes.

A recovery code is ``NN-XXXXX-XXXXX``. ``NN`` is the number of the code, so that one slow comparison
is enough. The rest are 50 random bits in Crockford's base32, in which no letter looks like a digit.
"""

from __future__ import annotations

import re
import secrets
from datetime import datetime
from hmac import compare_digest

import pyotp

COUNT = 10
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_HALF = 5
_DIGITS = 2 * _HALF
# letters that are not in the alphabet, read as the digits they look like
_READ_AS = str.maketrans("OIL", "011")
_FORM = re.compile(rf"([0-9]{{2}})([{_ALPHABET}]{{{_DIGITS}}})", re.ASCII)
# a code with generous spacing; longer text is not parsed at all
_LONGEST = 32

STEP_S = 30
# one step around now: phones' clocks differ, and typing takes a while (RFC 6238, part 5.2)
_WINDOW = 1
_CODE = re.compile(r"\d{6}", re.ASCII)


def make_recovery_codes() -> list[str]:
    """Make ten, in the order of their numbers."""
    return [
        _written(index, "".join(secrets.choice(_ALPHABET) for _ in range(_DIGITS)))
        for index in range(COUNT)
    ]


def read_recovery_code(text: str) -> tuple[int, str] | None:
    """Read a code as typed, in any case, with or without hyphens; None if malformed."""
    bare = _bare(text).upper().translate(_READ_AS)
    found = _FORM.fullmatch(bare)
    if found is None or int(found[1]) >= COUNT:
        return None
    return int(found[1]), _written(int(found[1]), found[2])


def _written(index: int, letters: str) -> str:
    return f"{index:02d}-{letters[:_HALF]}-{letters[_HALF:]}"


def _bare(text: str) -> str:
    """Leave out blanks and hyphens; empty for a text that is too long to be a code."""
    return "".join(text.replace("-", " ").split()) if len(text) <= _LONGEST else ""


def code_at(secret: str, at: datetime) -> str:
    """Return the code that an app shows at an instant."""
    return pyotp.TOTP(secret, interval=STEP_S).at(at)


def accepted_step(secret: str, code: str, at: datetime) -> int | None:
    """
    Return the step of a code: the present one, the previous one or the next.

    Blanks and hyphens are left out, as apps show them. Two steps may have the same
    code; the later one counts. None for a wrong code. The caller must not accept a
    step twice.
    """
    bare = _bare(code)
    if _CODE.fullmatch(bare) is None:
        return None
    totp = pyotp.TOTP(secret, interval=STEP_S)
    now = totp.timecode(at)
    near = range(now - _WINDOW, now + _WINDOW + 1)
    fits = [step for step in near if compare_digest(totp.generate_otp(step), bare)]
    return max(fits, default=None)
