"""
Tokens that an identity provider signs: of a sign-in, and of the end of a session.

The algorithm is one of a list of ours and fits the kind of the key, which comes from the provider's
published keys alone. Times are compared with our clock.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn

import jwt

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Signatures by a private key; never ``none``, and never one by a secret that both know."""
LONGEST: Final = 64 * 1024
"""Characters of a token: a person may be in hundreds of groups."""
_LEEWAY: Final = timedelta(seconds=60)
"""Between the provider's clock and ours."""
_OLDEST: Final = timedelta(minutes=10)
"""A token is made when its code is exchanged, and sent at once."""
_MOST_KEYS: Final = 8
"""Tried for a token; a provider has a few, and every try stops the loop for a moment."""
_LONGEST_MODULUS: Final = 683
"""Characters of Base64: 4,096 bits. Longer keys cost tens of milliseconds for each signature."""
_LAST_SECOND: Final = 1 << 37
"""Of a time, in the year 6325: the first that is too large for a date is of the year 10000."""
_LONGEST_WORD: Final = 255
"""OpenID Connect Core, part 2: of ``sub``."""
_LOGOUT: Final = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_TYPE: Final = "logout+jwt"
# the library reads the system clock, but ours is injected, so times are compared below
_OPTIONS: Final[Any] = {
    "require": ["iss", "aud", "iat", "exp"],
    "enforce_minimum_key_length": True,
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_sub": False,
    "verify_jti": False,
}

Key = Mapping[str, object]
"""A public key as the provider publishes it (RFC 7517)."""


class TokenRefused(Exception):
    """A token is not in order; the text is a fixed word for the log."""


@dataclass(frozen=True, slots=True)
class Expected:
    """For whom a token is: who signs it, and our client there."""

    issuer: str
    client_id: str


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """
    The end of one session, or of all of a person's.

    Attributes:
        subject, sid: One of them may be empty, never both.
        ends_at: The token is refused from then on.
    """

    subject: str
    sid: str
    token_id: str
    ends_at: datetime


def key_id_of(token: str) -> str:
    """
    Return the ``kid`` of a token's header; empty for none.

    Raises:
        TokenRefused: the header is malformed, or names another algorithm.
    """
    head = _head(token)
    found = head.get("kid", "")
    if not isinstance(found, str):
        _refuse("kid")
    return found


def read_id_token(
    token: str, keys: Sequence[Key], expected: Expected, nonce: str, now: datetime
) -> Mapping[str, object]:
    """
    Return the claims of an ID token (OpenID Connect Core, part 3.1.3.7).

    Args:
        token: As the provider's token endpoint gave it.
        keys: The keys with the token's ``kid``, or all where it has none.
        expected: For whom it is.
        nonce: That of our request.
        now: The time.

    Raises:
        TokenRefused: it is not of this issuer, for our client, of this sign-in, in time, or signed.
    """
    if _head(token).get("typ") == _LOGOUT_TYPE:
        _refuse("typ")
    claims = _verified(token, keys, expected)
    _check_times(claims, now)
    if not hmac.compare_digest(_word(claims, "nonce").encode(), nonce.encode()):
        _refuse("nonce")
    _word(claims, "sub")
    if claims.get("sid") is not None:
        _word(claims, "sid")
    return claims


def signed_in_at(claims: Mapping[str, object], now: datetime) -> datetime | None:
    """Return the ``auth_time`` of an ID token; None without one, or for one of the future."""
    try:
        at = _instant(claims.get("auth_time"))
    except TokenRefused:
        return None
    return min(at, now) if at <= now + _LEEWAY else None


def read_logout_token(
    token: str, keys: Sequence[Key], expected: Expected, now: datetime
) -> LogoutToken:
    """
    Read a logout token (OpenID Connect Back-Channel Logout, part 2.6).

    Raises:
        TokenRefused: it is none, not of this issuer, not for our client, not in time, or unsigned.
    """
    # A list, which no set can look up, may come.
    if _head(token).get("typ", "JWT") not in ("JWT", _LOGOUT_TYPE):
        _refuse("typ")
    claims = _verified(token, keys, expected)
    ends_at = _check_times(claims, now)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(_LOGOUT), dict):
        _refuse("events")
    if "nonce" in claims:
        _refuse("nonce")
    subject = _word(claims, "sub") if "sub" in claims else ""
    sid = _word(claims, "sid") if "sid" in claims else ""
    if not (subject or sid):
        _refuse("subject")
    return LogoutToken(subject, sid, _word(claims, "jti"), ends_at)


def _head(token: str) -> Mapping[str, object]:
    if len(token) > LONGEST:
        _refuse("form")
    try:
        head: Mapping[str, object] = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as problem:
        raise TokenRefused from problem
    if head.get("alg") not in ALGORITHMS or "crit" in head:
        _refuse("alg")
    return head


def _verified(token: str, keys: Sequence[Key], expected: Expected) -> Mapping[str, object]:
    """Return the claims of a token that one of the keys has signed, for our client."""
    algorithm = str(_head(token)["alg"])
    tried = [each for each in keys if _may_sign(each, algorithm)][:_MOST_KEYS]
    for key in filter(None, (_key(each, algorithm) for each in tried)):
        try:
            claims: Mapping[str, object] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=expected.issuer,
                audience=expected.client_id,
                options=_OPTIONS,
            )
        except (jwt.InvalidSignatureError, jwt.InvalidKeyError):
            continue
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as problem:
            word = type(problem).__name__
            raise TokenRefused(word) from problem
        _check_party(claims, expected)
        return claims
    raise TokenRefused


def _may_sign(published: Key, algorithm: str) -> bool:
    """Return whether a published key is public, not too long, and for this kind of signature."""
    if published.get("use", "sig") != "sig" or published.get("alg", algorithm) != algorithm:
        return False
    return "d" not in published and len(str(published.get("n", ""))) <= _LONGEST_MODULUS


def _key(published: Key, algorithm: str) -> jwt.PyJWK | None:
    """Read a published key; None for one of another kind, or a malformed one."""
    try:
        return jwt.PyJWK.from_json(json.dumps(dict(published)), algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        return None


def _check_party(claims: Mapping[str, object], expected: Expected) -> None:
    """Refuse a token for several clients that does not name ours as its own."""
    audience, party = claims["aud"], claims.get("azp")
    several = isinstance(audience, list) and len(audience) > 1
    if (several or party is not None) and party != expected.client_id:
        _refuse("azp")


def _check_times(claims: Mapping[str, object], now: datetime) -> datetime:
    """Check that a token was made a moment ago, and is not over; return from when it is refused."""
    issued, ends = _instant(claims["iat"]), _instant(claims["exp"])
    begins = _instant(claims.get("nbf", claims["iat"]))
    if max(issued, begins) > now + _LEEWAY or issued < now - _OLDEST:
        _refuse("iat")
    if ends + _LEEWAY <= now:
        _refuse("expired")
    return min(ends, issued + _OLDEST) + _LEEWAY


def _instant(value: object) -> datetime:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value < _LAST_SECOND
    ):
        _refuse("time")
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=value)


def _word(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_WORD or not value.isprintable():
        _refuse(name)
    return value


def _refuse(word: str) -> NoReturn:
    raise TokenRefused(word)
