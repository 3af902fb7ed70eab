"""Codes of an authenticator app (RFC 6238): SHA-1, six digits, thirty seconds, one step around."""

from __future__ import annotations

import base64
import os
import re
from datetime import datetime

import pyotp
from pyotp.exceptions import OTPVerificationError

from gateway.security.secrets import Random

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

        None for a wrong code. The caller must not accept a step twice.
        """
        if _CODE.fullmatch(code) is None:
            return None
        totp = pyotp.TOTP(secret, interval=STEP_S)
        try:
            return totp.verify_and_get_timecode(code, for_time=at, valid_window=_WINDOW)
        except OTPVerificationError:
            return None

    def uri(self, secret: str, email: str) -> str:
        """Return the URI that an app scans."""
        totp = pyotp.TOTP(secret, interval=STEP_S)
        return totp.provisioning_uri(name=email, issuer_name=self._issuer)
