"""Mail about new users to the people of security and administration."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from gateway.core.storage import StoreUnavailable
from gateway.core.user import User
from gateway.identity.mail import Mailer, Text

_log = logging.getLogger(__name__)
_SUBJECT: Final[Text] = ("Novo usuário", "New user")


@dataclass(frozen=True, slots=True)
class UserNotices:
    """Writes to those who may do something about a new user, wanted or not."""

    mailer: Mailer

    async def tell(self, user: User, ordered_by: str) -> None:
        """
        Write to security and admins who see all companies of a new user.

        The user is made already: a store that fails now loses the mail, and the audit log has the
        act. The user's name and address, which somebody typed, are left out.

        Args:
            user: The new user.
            ordered_by: The actor, as the audit log names them.
        """
        link = f"{self.mailer.context.settings.origin}/panel/people/{user.id}"
        roles = ", ".join(sorted(user.roles))
        portuguese = (
            f"Papéis: {roles}\nConvidado por: {ordered_by}\n\n"
            f"Se ninguém devia ter feito isso, desative o usuário: {link}"
        )
        english = (
            f"Roles: {roles}\nInvited by: {ordered_by}\n\n"
            f"If nobody should have done this, disable the user: {link}"
        )
        try:
            await self.mailer.inform_security(user.companies, _SUBJECT, (portuguese, english))
        except StoreUnavailable:
            _log.error("user_notice_lost: %s", user.id)
