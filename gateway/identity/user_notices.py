"""Mail about users who are new, or may do more, to the people of security and administration."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from gateway.core.storage import StoreUnavailable
from gateway.core.user import User
from gateway.identity.mail import Mailer, Text

_log = logging.getLogger(__name__)
_NEW: Final[Text] = ("Novo usuário", "New user")
_MAY_DO_MORE: Final[Text] = ("Um usuário pode mais do que antes", "A user may do more than before")


@dataclass(frozen=True, slots=True)
class UserNotices:
    """Writes to those who may do something about a user's access, wanted or not."""

    mailer: Mailer

    async def tell_of_new(self, user: User, ordered_by: str) -> None:
        """Write about a new user; ``ordered_by`` is the actor, as the audit log names them."""
        by = self.mailer.orderer(ordered_by)
        await self._tell(user, _NEW, (f"Convidado por: {by}", f"Invited by: {by}"))

    async def tell_of_more(self, user: User, ordered_by: str) -> None:
        """Write about a user with more roles or companies than before, or enabled again."""
        by = self.mailer.orderer(ordered_by)
        await self._tell(user, _MAY_DO_MORE, (f"Pedido por: {by}", f"Ordered by: {by}"))

    async def _tell(self, user: User, subject: Text, who: Text) -> None:
        """
        Write to security and admins who see all companies of a user.

        The user is stored already: a store that fails now loses the mail, and the audit log has the
        act. The user's name and address, which somebody typed, are left out.
        """
        link = f"{self.mailer.context.settings.origin}/panel/people/{user.id}"
        roles = ", ".join(sorted(user.roles))
        portuguese = (
            f"Papéis: {roles}\n{who[0]}\n\n"
            f"Se ninguém devia ter feito isso, desative o usuário: {link}"
        )
        english = (
            f"Roles: {roles}\n{who[1]}\n\nIf nobody should have done this, disable the user: {link}"
        )
        try:
            await self.mailer.inform_security(user.companies, subject, (portuguese, english))
        except StoreUnavailable:
            _log.error("user_notice_lost: %s", user.id)
