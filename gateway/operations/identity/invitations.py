"""Invitations: a person is made, and chooses the first password by a link."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.identity import Purpose
from gateway.domain.people import User
from gateway.operations.administration import NotPossible
from gateway.operations.identity.acts import act
from gateway.operations.identity.answers import Visitor
from gateway.operations.identity.mailing import Mailing
from gateway.operations.identity.new_passwords import NewPasswords
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.users import UserOrder, UserRecords


@dataclass(frozen=True, slots=True)
class Invitations:
    """How people come in."""

    parts: Parts
    users: UserRecords

    async def invite(self, by: str, order: UserOrder) -> User:
        """
        Make a person and send them a link, good once, for three days.

        Raises:
            NotPossible: as ``UserRecords.create`` does.
        """
        user = await self.users.create(by, order)
        await Mailing(self.parts).invitation(user)
        return user

    async def invite_again(self, by: str, user_id: str) -> User:
        """
        Send a new link to who has not accepted yet; the link before is void.

        Raises:
            NotPossible: there is no such person, or they have a password or are disabled.
        """
        user = await self.users.find(user_id)
        if user.password or not user.active:
            message = f"{user.email} has accepted an invitation already, or is disabled"
            raise NotPossible(message, "not_invited")
        await self.parts.stored.audit.append(
            act(self.parts, by, "user.invited_again", f"user:{user.id}")
        )
        await Mailing(self.parts).invitation(user)
        return user

    async def accept(self, token: str, password: str, visitor: Visitor) -> str:
        """
        Set the first password, and return whose; nobody is signed in by that.

        Raises:
            ServiceError: NOT_POSSIBLE for a weak password, or a link that is
                unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        passwords = NewPasswords(self.parts)
        return (await passwords.by_link(token, Purpose.INVITATION, password, visitor)).id
