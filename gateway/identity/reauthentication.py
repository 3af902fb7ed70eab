"""Whose account it is, proven anew in the very call that gives a lasting means."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.user_errors import MFA_INVALID, PASSWORD_WRONG
from gateway.identity.context import IdentityContext
from gateway.identity.password_check import PasswordCheck
from gateway.identity.second_factor_codes import SecondFactorCodes

_NEEDED = "use the newest code of the authenticator app; a recovery code is not enough here"


@dataclass(frozen=True, slots=True)
class Reauthentication:
    """
    Requires the password and a code of the app, in the call itself.

    A code that was given a moment ago is not enough: the holder of a copied session would
    use it, and gain access that outlives the session.
    """

    context: IdentityContext

    async def prove(
        self, caller: SignedInUser, password: str, code: str, client: ClientInfo
    ) -> User:
        """
        Return the caller as stored; a right code is used up.

        The password is checked first: who does not know it neither uses up nor locks codes.

        Args:
            caller: Who is signed in.
            password: Their password.
            code: Of their app, never a recovery code: one of ten on paper would give ten more.
                Not looked at where they have no app.
            client: From where.

        Raises:
            ServiceError: PASSWORD_WRONG; MFA_INVALID; TOO_MANY_ATTEMPTS.
        """
        user = await PasswordCheck(self.context).by_caller(caller, password, client)
        if user is None:
            raise ServiceError(PASSWORD_WRONG, "password")
        if user.has_factor and not await SecondFactorCodes(self.context).app_code(user, code):
            raise ServiceError(MFA_INVALID, "code", detail=_NEEDED)
        return user
