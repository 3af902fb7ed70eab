"""Authentication of users by access tokens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gateway.core import errors, strict
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user_access import ANYWHERE, check_network
from gateway.core.user_errors import STEP_UP_REQUIRED, TOKEN_INVALID
from policies.store_silence import asking_the_store

_BEARER: Final = "bearer"
_BASIC: Final = "basic"
_ENDED: Final = {
    "expired": "expired",
    **dict.fromkeys(("session_over", "session_unknown", "person_changed"), "revoked"),
}
"""What is told of a token that was ours; every other is invalid."""

WhoIs = Callable[[str], Awaitable[SignedInUser]]
"""Return whose access token it is; TOKEN_INVALID for nobody's."""


@dataclass(frozen=True, slots=True)
class BearerToken:
    """
    Reads the Authorization header and finds the signed-in user.

    Source: contract 4.2, 5.4.
    """

    authenticate: WhoIs
    refuses = (
        TOKEN_INVALID,
        STEP_UP_REQUIRED,
        errors.USER_CREDENTIALS_INVALID,
        errors.AUTH_UNAVAILABLE,
    )

    async def __call__(self, call: Call) -> None:
        """
        Fill in the signed-in user.

        Raises:
            ServiceError: ``TOKEN_INVALID`` (401) for a token that is absent, bad
                or over, ``INVALID_CREDENTIALS`` (401) for Basic, and
                ``SVC.SYS.002`` (503) when the store does not answer; at a network that is new
                to the session as ``check_network``.
        """
        token = bearer_token(call.asked.authorization)
        try:
            with asking_the_store():
                person = await self.authenticate(token)
        except ServiceError as refusal:
            if refusal.error is not TOKEN_INVALID:
                raise
            reason = _ENDED.get(refusal.reason, "invalid")
            raise ServiceError(TOKEN_INVALID, reason) from refusal
        if call.quota not in ANYWHERE:
            check_network(person, call.asked.address, TOKEN_INVALID)
        call.person = person


class RefusesBasic:
    """Refuses partners' credentials where users sign in; any other header is ignored."""

    refuses = (errors.USER_CREDENTIALS_INVALID,)

    def __call__(self, call: Call) -> None:
        """Let the call on unless it brings a Basic credential."""
        for value in call.asked.authorization:
            with suppress(ValueError):
                if strict.scheme(value)[0] == _BASIC:
                    raise ServiceError(errors.USER_CREDENTIALS_INVALID, "wrong_scheme")


def bearer_token(values: Sequence[str]) -> str:
    """Read the one token; the scheme word decides before the syntax of the rest."""
    if not values:
        raise ServiceError(TOKEN_INVALID, "missing")
    if len(values) > 1:
        raise ServiceError(TOKEN_INVALID, "malformed")
    try:
        scheme, token = strict.scheme(values[0])
    except ValueError as problem:
        raise ServiceError(TOKEN_INVALID, "malformed") from problem
    if scheme == _BASIC:
        raise ServiceError(errors.USER_CREDENTIALS_INVALID, "wrong_scheme")
    if scheme != _BEARER:
        raise ServiceError(TOKEN_INVALID, "wrong_scheme")
    if not token:
        raise ServiceError(TOKEN_INVALID, "malformed")
    return token
