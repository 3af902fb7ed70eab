"""
One-time codes: of an authenticator app (RFC 6238), and recovery codes.

``NN`` is the number of the code, so that one slow comparison is enough. The rest are
50 random bits in Crockford's base32, in which no letter looks like a digit.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from datetime import datetime
from hmac import compare_digest

import pyotp

from gateway.security.secrets import Random

COUNT = 10
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_HALF = 5
_DIGITS = 2 * _HALF
_BITS = 5
_BYTES = 7
# letters that are not in the alphabet, read as the digits they look like
_READ_AS = str.maketrans("OIL", "011")
_FORM = re.compile(rf"([0-9]{{2}})([{_ALPHABET}]{{{_DIGITS}}})", re.ASCII)
# a code with generous spacing; longer text is not parsed at all
_LONGEST = 32


class RecoveryCodes:
    """Makes and reads recovery codes."""

    def __init__(self, random: Random = os.urandom) -> None:
        """Use this source of randomness."""
        self._random = random

    def make(self) -> Sequence[str]:
        """Make ten, in the order of their numbers."""
        return [_written(index, self._letters()) for index in range(COUNT)]

    def read(self, text: str) -> tuple[int, str] | None:
        """Read a code as typed, in any case, with or without hyphens; None if malformed."""
        bare = _bare(text).upper().translate(_READ_AS)
        found = _FORM.fullmatch(bare)
        if found is None or int(found[1]) >= COUNT:
            return None
        return int(found[1]), _written(int(found[1]), found[2])

    def _letters(self) -> str:
        """Make 50 random bits."""
        number = int.from_bytes(self._random(_BYTES))
        return "".join(
            _ALPHABET[number >> _BITS * place & len(_ALPHABET) - 1] for place in range(_DIGITS)
        )


def _bare(text: str) -> str:
    """Leave out blanks and hyphens; empty for a text that is too long to be a code."""
    return "".join(text.replace("-", " ").split()) if len(text) <= _LONGEST else ""


def _written(index: int, letters: str) -> str:
    """Return the normal form."""
    return f"{index:02d}-{letters[:_HALF]}-{letters[_HALF:]}"


STEP_S = 30
# as long as the digest of SHA-1 (RFC 4226, part 4)
_SECRET_BYTES = 20
# one step around now: phones' clocks differ, and typing takes a while (RFC 6238, part 5.2)
_WINDOW = 1
_CODE = re.compile(r"\d{6}", re.ASCII)


def code_at(secret: str, at: datetime) -> str:
    """Return the code that an app shows at an instant."""
    return pyotp.TOTP(secret, interval=STEP_S).at(at)


class Totp:
    """Makes secrets and checks codes."""

    def __init__(self, issuer: str, random: Random = os.urandom) -> None:
        """Use the name that an app shows beside the e-mail."""
        self._issuer = issuer
        self._random = random

    def new_secret(self) -> str:
        """Make 20 random bytes in base32."""
        return base64.b32encode(self._random(_SECRET_BYTES)).decode("ascii")

    def accepted_step(self, secret: str, code: str, at: datetime) -> int | None:
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

    def uri(self, secret: str, email: str) -> str:
        """Return the URI that an app scans."""
        totp = pyotp.TOTP(secret, interval=STEP_S)
        return totp.provisioning_uri(name=email, issuer_name=self._issuer)
