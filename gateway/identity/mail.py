"""Mail to users, put into the outbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from gateway.core.user import User
from gateway.identity.challenges import Mail, MailToken, Purpose
from gateway.identity.context import IdentityContext

_PATHS = {Purpose.RESET: "/panel/reset", Purpose.INVITATION: "/panel/invitation"}

Text = tuple[str, str]
"""In Portuguese and in English."""

_ENGLISH: Final = "en"
"""As the panel's language has it."""


@dataclass(frozen=True, slots=True)
class Mailer:
    """
    Writes mail to users; links start with the configured origin.

    It is in Portuguese, but in English to whoever chose that for the panel.
    """

    context: IdentityContext

    async def send_reset_link(self, user: User) -> bool:
        """
        Send a link that sets a new password; it works once, for half an hour.

        Returns:
            False when three links are still valid: they stay valid, and none is sent.
        """
        settings = self.context.settings
        token, row = self._new_token(user, Purpose.RESET, settings.reset)
        if not await self.context.stores.challenges.add_mail_token_beside(
            row, settings.throttles.resets
        ):
            return False
        link = self._link(row.purpose, token)
        minutes = int(settings.reset.total_seconds() // 60)
        portuguese = (
            f"Alguém pediu uma nova senha para esta conta. O link vale {minutes} minutos,"
            f" uma única vez:\n\n{link}\n\nSe não foi você, ignore esta mensagem:"
            " nada foi alterado."
        )
        english = (
            "Somebody asked for a new password for this account. The link is valid for"
            f" {minutes} minutes and works once:\n\n{link}\n\nIf it was not you, ignore this"
            " message: nothing has been changed."
        )
        await self._put(user, ("Redefinição de senha", "Password reset"), (portuguese, english))
        return True

    async def send_invitation(self, user: User) -> None:
        """Send a link that sets the first password; it works once and voids earlier ones."""
        lifetime = self.context.settings.invitation
        token, row = self._new_token(user, Purpose.INVITATION, lifetime)
        await self.context.stores.challenges.add_mail_token(row)
        link = self._link(row.purpose, token)
        hours = int(self.context.settings.invitation.total_seconds() // 3600)
        portuguese = (
            f"Você foi convidado a operar o gateway PIX. Escolha sua senha em até {hours}"
            f" horas:\n\n{link}"
        )
        english = (
            "You have been invited to operate the PIX gateway. Choose your password within"
            f" {hours} hours:\n\n{link}"
        )
        await self._put(user, ("Convite", "Invitation"), (portuguese, english))

    async def notify(self, user: User, subject: Text, text: Text) -> None:
        """Tell a user what happened to their account; the mail has no link."""
        portuguese, english = text
        told = (
            f"{portuguese}\n\nSe não foi você, avise o responsável pela segurança imediatamente.",
            f"{english}\n\nIf it was not you, tell whoever is responsible for security at once.",
        )
        await self._put(user, subject, told)

    def _new_token(
        self, user: User, purpose: Purpose, lifetime: timedelta
    ) -> tuple[str, MailToken]:
        """Make the token of a link, and the row stored for it."""
        now, opaque = self.context.now(), self.context.crypto.opaque
        token = opaque.make()
        row = MailToken(
            digest=opaque.mail_digest(token),
            purpose=purpose,
            user_id=user.id,
            created_at=now,
            ends_at=now + lifetime,
        )
        return token, row

    def _link(self, purpose: Purpose, token: str) -> str:
        """Return the link with its token."""
        return f"{self.context.settings.origin}{_PATHS[purpose]}?token={quote(token)}"

    async def _put(self, user: User, subject: Text, text: Text) -> None:
        """Put a message into the outbox."""
        chosen = int(user.preferences.language == _ENGLISH)
        greeting = ("Olá", "Hello")[chosen]
        mail = Mail(
            id=self.context.new_id(),
            to=user.email,
            subject=f"[pixgate] {subject[chosen]}",
            text=f"{greeting}, {user.name}!\n\n{text[chosen]}\n",
            created_at=self.context.now(),
        )
        await self.context.stores.outbox.put(mail)
