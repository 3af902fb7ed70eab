"""Proof, in the very call that gives lasting access, that the caller is the user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.user_access import FRESH
from gateway.core.user_errors import (
    MFA_INVALID,
    NOT_POSSIBLE,
    PASSWORD_WRONG,
    VALIDATION_FAILED,
)
from gateway.identity.context import IdentityContext
from gateway.identity.model import Challenge
from gateway.identity.passkey_check import PasskeyCheck
from gateway.identity.password_check import PasswordCheck
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.webauthn import Assertion

_NEEDED = (
    "use the newest code of the authenticator app, or a passkey; a recovery code is not enough here"
)

_AGAIN = "sign in with your company once more, and do this within five minutes"


LONGEST: Final = 1024
"""Code points of a password or a code, as it is typed."""


CurrentPassword = Annotated[
    str,
    Meta(
        description="The password that is valid now; not looked at beside `passkey`.",
        max_length=LONGEST,
        examples=["uma frase bem comprida"],
        extra_json_schema={"format": "password"},
    ),
]


class Proof(Struct, frozen=True):
    """The password once more and, with a second factor, a code of the app; or a passkey."""

    password: CurrentPassword = ""
    code: Annotated[
        str,
        Meta(
            description=(
                "The newest code of the authenticator app, for a user who has a second factor; a"
                " recovery code is not enough here. Not looked at beside `passkey`."
            ),
            max_length=LONGEST,
            examples=["123456"],
        ),
    ] = ""
    passkey: Annotated[
        Assertion | None, meaning("A passkey of the user, in place of password and code.")
    ] = None


@dataclass(frozen=True, slots=True)
class Reauthentication:
    """
    Requires a passkey, or the password and a code of the app, in the call itself.

    A second factor that was given a moment ago is not enough: the holder of a copied session would
    use it, and gain access that outlives the session.
    """

    context: IdentityContext

    async def prove(self, caller: SignedInUser, proof: Proof, client: ClientInfo) -> User:
        """
        Return the caller as stored; a right code is used up.

        The password is checked first: who does not know it neither uses up nor locks codes. For a
        session that began at the company's identity provider, the sign-in stands for it, for as
        long as a second factor counts as just given. Without a second factor of ours it is all that
        there is: the provider has to say when it was, since it signs in silently, too.

        Args:
            caller: Who is signed in.
            proof: Its code is of the app, never a recovery code: one of ten on paper would give ten
                more. It is not looked at where they have no second factor.
            client: From where.

        Raises:
            ServiceError: PASSWORD_WRONG; MFA_INVALID; PASSKEY_INVALID; TOO_MANY_ATTEMPTS;
                VALIDATION_FAILED with neither password nor passkey; NOT_POSSIBLE where a sign-in
                at the provider is too long ago.
        """
        if proof.passkey is not None:
            return await PasskeyCheck(self.context).of_caller(caller, proof.passkey)
        if caller.by_issuer:
            user = await self._just_signed_in(caller)
        elif not proof.password:
            raise ServiceError(VALIDATION_FAILED, "missing", field="password")
        else:
            user = await self._of_password(caller, proof.password, client)
        if user.has_factor and not await self._is_of_app(user, proof.code):
            raise ServiceError(MFA_INVALID, "code", detail=_NEEDED)
        return user

    async def note_sign_in(self, caller: SignedInUser, at: datetime) -> None:
        """
        Note when the user of a session signed in at the provider, as long as that counts.

        The note is a challenge that is used: it ends like one, and nothing else is stored of it.
        """
        now, ends_at = self.context.now(), at + FRESH
        if caller.has_factor or ends_at <= now:
            return
        note = Challenge(
            digest=self._digest(caller),
            user_id=caller.user_id,
            created_at=now,
            ends_at=ends_at,
            tries=1,
            used_at=now,
        )
        await self.context.stores.challenges.add_used(note)

    async def _of_password(self, caller: SignedInUser, password: str, client: ClientInfo) -> User:
        user = await PasswordCheck(self.context).by_caller(caller, password, client)
        if user is None:
            raise ServiceError(PASSWORD_WRONG, "password")
        return user

    async def _just_signed_in(self, caller: SignedInUser) -> User:
        """Return a user without a password here, who has just signed in at their provider."""
        now, stores = self.context.now(), self.context.stores
        found = await stores.sessions.find(caller.session_id)
        if found is None or now - found[0].created_at > FRESH:
            raise ServiceError(NOT_POSSIBLE, "sign_in_again", detail=_AGAIN)
        user = found[1]
        noted = None if user.has_factor else await stores.challenges.find(self._digest(caller))
        if not user.has_factor and (noted is None or noted.ends_at <= now):
            raise ServiceError(NOT_POSSIBLE, "sign_in_again", detail=_AGAIN)
        return user

    def _digest(self, caller: SignedInUser) -> bytes:
        return self.context.crypto.opaque.digest(f"signed in anew\n{caller.session_id}")

    async def _is_of_app(self, user: User, code: str) -> bool:
        """Return whether it is a code of an app that was confirmed."""
        return user.has_app and await SecondFactorCodes(self.context).app_code(user, code)
