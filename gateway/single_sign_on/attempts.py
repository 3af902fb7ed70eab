"""
Sign-ins that are under way at an identity provider, each in a cookie of its own.

The panel's cookie is SameSite=Strict and does not come back from another site. This one is Lax,
lives for ten minutes, and is sealed: it holds the state, the nonce, the verifier of the code, and
the page of ours that was wanted. Nothing is stored, so strangers fill no table.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.core.clocks import Now
from gateway.core.headers import Headers
from gateway.security.sealing import SealBroken, Sealer
from gateway.security.secrets import Random, base64url
from policies.authentication.session import cookie_value

LABEL: Final = "sign-ins at a provider"
"""The label that the server's keys are derived under."""
LASTS: Final = timedelta(minutes=10)
"""Long enough to find a telephone with a code."""
_BYTES: Final = 32
_BOUND: Final = "single sign-on"
_LONGEST_BACK: Final = 1_000
"""Of an address of ours; a longer one is the overview's: browsers keep 4,096 bytes of a cookie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    A sign-in that is under way.

    Attributes:
        state: Comes back with the answer; another browser has another one.
        nonce: Comes back in the ID token.
        verifier: Proves to the provider that the code is ours (RFC 7636).
        back: The page of ours that was wanted.
        ends_s: Seconds since 1970.
        again: The provider was asked to sign the person in anew.
    """

    company_id: str
    state: str
    nonce: str
    verifier: str
    back: str
    ends_s: int
    again: bool = False

    @property
    def challenge(self) -> str:
        """The verifier's SHA-256, which the provider is told."""
        return base64url(hashlib.sha256(self.verifier.encode()).digest())

    def is_answered_by(self, company_id: str, state: str) -> bool:
        """Return whether an answer is to this one: same provider, same state."""
        return company_id == self.company_id and hmac.compare_digest(
            state.encode("utf-8", "surrogatepass"), self.state.encode()
        )


@dataclass(frozen=True, slots=True)
class Attempts:
    """
    Makes and reads the cookies.

    Attributes:
        secure: False on plain HTTP in a sandbox alone, where the name has no prefix.
    """

    sealer: Sealer
    now: Now
    random: Random
    secure: bool

    def begin(self, company_id: str, back: str, home: str, *, again: bool = False) -> Attempt:
        """Begin a sign-in that leads to ``back``, or ``home`` where that is too long."""
        return Attempt(
            company_id=company_id,
            state=base64url(self.random(_BYTES)),
            nonce=base64url(self.random(_BYTES)),
            verifier=base64url(self.random(_BYTES)),
            back=back if len(back) <= _LONGEST_BACK else home,
            ends_s=int((self.now() + LASTS).timestamp()),
            again=again,
        )

    def given(self, attempt: Attempt) -> str:
        """Return the header that gives the cookie."""
        sealed = self.sealer.seal(json.dumps(asdict(attempt)), _BOUND)
        return self._cookie(base64.urlsafe_b64encode(sealed).decode("ascii"), LASTS)

    @property
    def taken(self) -> str:
        """The header that takes the cookie away."""
        return self._cookie("", timedelta(0))

    def read(self, headers: Headers) -> Attempt | None:
        """Return the sign-in of a browser's cookie; None without one, or one that is over."""
        value = cookie_value(headers, self._name)
        try:
            opened = json.loads(self.sealer.open(base64.urlsafe_b64decode(value), _BOUND))
        except (ValueError, SealBroken):
            return None
        attempt = Attempt(**opened)
        return attempt if self.now().timestamp() < attempt.ends_s else None

    @property
    def _name(self) -> str:
        return "__Host-pixgate-company" if self.secure else "pixgate-company-dev"

    def _cookie(self, value: str, lasts: timedelta) -> str:
        secure = "; Secure" if self.secure else ""
        attributes = f"Path=/{secure}; HttpOnly; SameSite=Lax"
        return f"{self._name}={value}; {attributes}; Max-Age={int(lasts.total_seconds())}"


def end_of(attempt: Attempt, now: datetime) -> datetime:
    """Return when an attempt ends."""
    return now + timedelta(seconds=attempt.ends_s - int(now.timestamp()))
