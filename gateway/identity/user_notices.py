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

_BREAK_GLASS: Final[Text] = ("Entrada de emergência", "Break-glass sign-in")


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

    async def tell_of_break_glass(self, user: User, address: str) -> None:
        """Write about a named person who signs in without their company's provider."""
        where = address or "-"
        told = (
            f"Entrou sem o provedor da empresa, de: {where}",
            f"Signed in without the company's provider, from: {where}",
        )
        await self._tell(user, _BREAK_GLASS, told)

    async def tell_of_sign_on(
        self, subject: Text, company_id: str, short_name: str, ordered_by: str
    ) -> None:
        """Write about the identity provider of a company, which decides who signs in there."""
        by, company = self.mailer.orderer(ordered_by), f"company:{company_id}"
        link = f"{self.mailer.context.settings.origin}/panel/companies/{company_id}/single-sign-on"
        portuguese = (
            f"Empresa: {short_name}\nPedido por: {by}\n\n"
            f"Se ninguém devia ter feito isso, veja: {link}"
        )
        english = (
            f"Company: {short_name}\nOrdered by: {by}\n\n"
            f"If nobody should have done this, look at: {link}"
        )
        await self._inform(frozenset([company_id]), subject, (portuguese, english), company)

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
        await self._inform(user.companies, subject, (portuguese, english), user.id)

    async def _inform(
        self, companies: frozenset[str], subject: Text, text: Text, about: str
    ) -> None:
        try:
            await self.mailer.inform_security(companies, subject, text)
        except StoreUnavailable:
            _log.error("user_notice_lost: %s", about)
