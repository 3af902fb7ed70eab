"""Passwords: forgotten, reset and changed; each change ends every session."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.errors import ServiceError
from gateway.domain.identity import Purpose
from gateway.domain.identity_errors import PASSWORD_WRONG
from gateway.domain.people import Person
from gateway.operations.identity.addresses import as_typed
from gateway.operations.identity.answers import Visitor
from gateway.operations.identity.new_passwords import NewPasswords
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.proving import Proving
from gateway.operations.identity.throttling import Throttle
from gateway.operations.identity.wishes import ResetWishes


@dataclass(frozen=True, slots=True)
class PasswordRecords:
    """What people do about their passwords."""

    parts: Parts
    wishes: ResetWishes

    async def forgot(self, email: str, visitor: Visitor) -> None:
        """
        Have a link sent to set a new password, if anybody has that address.

        Nobody is looked up before the caller is answered: neither what is said nor
        how long it takes tells whether there is such a person.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS, for the caller's address alone.
        """
        await Throttle(self.parts).reset(visitor.address)
        self.wishes.add(as_typed(email), visitor.address)

    async def reset(self, token: str, password: str, visitor: Visitor) -> str:
        """
        Set a new password by the link of a mail, and return whose; nobody is signed in by that.

        Raises:
            ServiceError: NOT_POSSIBLE for a password that is too weak, or a
                link that is unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        user = await NewPasswords(self.parts).by_link(token, Purpose.RESET, password, visitor)
        await Throttle(self.parts).password_reset(user.email, visitor.address)
        return user.id

    async def change(self, caller: Person, current: str, new: str, visitor: Visitor) -> None:
        """
        Set a new password by the current one; every session ends, this one too.

        Raises:
            ServiceError: PASSWORD_WRONG; NOT_POSSIBLE for a new one that is too
                weak; TOO_MANY_ATTEMPTS.
        """
        passwords = NewPasswords(self.parts)
        passwords.refuse_weak(new)
        if await Proving(self.parts).by_caller(caller, current, visitor) is None:
            raise ServiceError(PASSWORD_WRONG, "password")
        await passwords.set(caller.user_id, new, "password.changed")
