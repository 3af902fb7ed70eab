"""Mail to users, put into the outbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote

from gateway.domain.identity.challenges import MailToken, Purpose
from gateway.domain.identity.mail import Mail
from gateway.domain.identity.users import User
from gateway.operations.identity.ports import IdentityContext

_PATHS = {Purpose.RESET: "/panel/reset", Purpose.INVITATION: "/panel/invitation"}


@dataclass(frozen=True, slots=True)
class Mailer:
    """Writes to people, in their language; a link begins with the configured origin."""

    context: IdentityContext

    async def send_reset_link(self, user: User) -> bool:
        """
        Send a link that sets a new password, once, for half an hour.

        Returns:
            False when there are three that still work; those stay, and none is sent.
        """
        settings = self.context.settings
        token, row = self._made(user, Purpose.RESET, settings.reset)
        if not await self.context.stores.challenges.add_mail_token_beside(
            row, settings.throttles.resets
        ):
            return False
        link = self._link(row.purpose, token)
        minutes = int(settings.reset.total_seconds() // 60)
        await self._put(
            user,
            "Redefinição de senha",
            f"Alguém pediu uma nova senha para esta conta. O link vale {minutes} minutos,"
            f" uma única vez:\n\n{link}\n\nSe não foi você, ignore esta mensagem:"
            " nada foi alterado.",
        )
        return True

    async def send_invitation(self, user: User) -> None:
        """Send a link that sets the first password, once; those sent before are void."""
        token, row = self._made(user, Purpose.INVITATION, self.context.settings.invitation)
        await self.context.stores.challenges.add_mail_token(row)
        link = self._link(row.purpose, token)
        hours = int(self.context.settings.invitation.total_seconds() // 3600)
        await self._put(
            user,
            "Convite",
            f"Você foi convidado a operar o gateway PIX. Escolha sua senha em até {hours}"
            f" horas:\n\n{link}",
        )

    async def notify(self, user: User, subject: str, text: str) -> None:
        """Tell a person what was done to their account; it holds no link."""
        footer = "Se não foi você, avise o responsável pela segurança imediatamente."
        await self._put(user, subject, f"{text}\n\n{footer}")

    def _made(self, user: User, purpose: Purpose, lasts: timedelta) -> tuple[str, MailToken]:
        """Make the token of a link, and what is kept of it."""
        now, opaque = self.context.now(), self.context.crypto.opaque
        token = opaque.make()
        row = MailToken(
            digest=opaque.mail_digest(token),
            purpose=purpose,
            user_id=user.id,
            created_at=now,
            ends_at=now + lasts,
        )
        return token, row

    def _link(self, purpose: Purpose, token: str) -> str:
        """Write a link."""
        return f"{self.context.settings.origin}{_PATHS[purpose]}?token={quote(token)}"

    async def _put(self, user: User, subject: str, text: str) -> None:
        """Store a message."""
        mail = Mail(
            id=self.context.new_id(),
            to=user.email,
            subject=f"[pixgate] {subject}",
            text=f"Olá, {user.name}!\n\n{text}\n",
            created_at=self.context.now(),
        )
        await self.context.stores.outbox.put(mail)
