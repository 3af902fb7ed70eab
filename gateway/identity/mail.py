"""
Mail to users: written, sealed in the mailbox, and sent from it in the background.

Who reads the store finds no link. A message is sent at least once: a worker that dies between
sending and noting it sends it again, and so may two whose lease was lost. Links in it work once.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final
from urllib.parse import quote

from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.config.identity import Mail as Server
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope, scope_of
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.core.user import User
from gateway.identity.context import IdentityContext
from gateway.identity.model import Mail, MailToken, Purpose
from gateway.identity.store import StoredMailbox
from gateway.process.periodic_task import Schedule, TryLater
from gateway.security.sealing import SealBroken, Sealer
from gateway.store.kernel.database import Database

_log = logging.getLogger(__name__)

_PATHS = {Purpose.RESET: "/panel/reset", Purpose.INVITATION: "/panel/invitation"}

Text = tuple[str, str]
"""In Portuguese and in English."""

_SECURITY: Final = frozenset({Role.SECURITY, Role.ADMIN})
_ENGLISH: Final = "en"
"""As the panel's language has it."""


@dataclass(frozen=True, slots=True)
class Mailer:
    """
    Writes mail to users; links start with the configured origin.

    It is in Portuguese, but in English to users who chose that for the panel.
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

    async def inform_security(self, companies: frozenset[str], subject: Text, text: Text) -> None:
        """
        Send news to security and admins who see these companies; none is every company.

        Raises:
            StoreUnavailable: some of them, or all, do not get it.
        """
        for user in await self.context.stores.users.list():
            sees = user.active and scope_of(user.companies).covers(companies)
            if sees and not _SECURITY.isdisjoint(user.roles):
                await self._put(user, subject, text)

    async def inform(self, address: str, subject: Text, text: Text) -> None:
        """
        Write to an address that is of no user, in both languages.

        What it tells is stored: a failing store loses the mail, and the audit log has the act.
        """
        mail = Mail(
            id=self.context.new_id(),
            to=address,
            subject=f"[pixgate] {subject[0]} / {subject[1]}",
            text="\n\n---\n\n".join(text) + "\n",
            created_at=self.context.now(),
        )
        try:
            await self.context.stores.mailbox.put(mail)
        except StoreUnavailable:
            _log.error("mail_lost: %s", mail.id)

    def orderer(self, actor: str) -> str:
        """Name who ordered an act; of a command the system's user, since its actor was typed."""
        return f"cli:{self.context.os_user}" if self.context.os_user else actor

    async def notify(self, user: User, subject: Text, text: Text) -> None:
        """Mail a user about an event of their account, without a link."""
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
        return f"{self.context.settings.origin}{_PATHS[purpose]}?token={quote(token)}"

    def letter(self, user: User, subject: str, text: str) -> Mail:
        """Write a mail in the user's language, which subject and text have already."""
        greeting = ("Olá", "Hello")[_language(user)]
        return Mail(
            id=self.context.new_id(),
            to=user.email,
            subject=f"[pixgate] {subject}",
            text=f"{greeting}, {user.name}!\n\n{text}\n",
            created_at=self.context.now(),
        )

    async def _put(self, user: User, subject: Text, text: Text) -> None:
        chosen = _language(user)
        await self.context.stores.mailbox.put(self.letter(user, subject[chosen], text[chosen]))


def _language(user: User) -> int:
    """Return the place of a user's language in a text."""
    return int(user.preferences.language == _ENGLISH)


_AT_ONCE = 20
"""Mails of one run: few enough to hold in memory and to send within seconds."""
_LONGEST_PAUSE_S = 60.0
"""Between two attempts: a code or link is still of use when the server is back."""
_REFUSED_FOR = timedelta(minutes=5)
"""Servers that test a sender's patience ask for as much."""
_FOR_GOOD = 500
"""From this status on, a server's refusal is final (RFC 5321, part 4.2.1)."""


def sending(server: Server) -> Schedule:
    """Return when mail is sent: often, and ever more seldom while the server fails."""
    return Schedule(every_s=server.every_s, delayed=True, backoff_to_s=_LONGEST_PAUSE_S)


class MailSender:
    """Sends waiting mail; a server that fails is tried again, less and less often."""

    def __init__(self, mailbox: StoredMailbox, server: Server, now: Now) -> None:
        """Take the mailbox and the server; without one nothing is ever sent."""
        self._mailbox = mailbox
        self._server = server
        self._now = now
        self._refused: dict[str, datetime] = {}

    async def run_once(self) -> None:
        """
        Send waiting mail, where there is a server.

        Raises:
            TryLater: the store or the server does not take it now. It names the
                class of the failure alone: a server's text may hold an address.
        """
        if not self._server.host:
            return
        import aiosmtplib  # noqa: PLC0415 - a process without a server never needs it

        try:
            await self.send_waiting()
        except (StoreUnavailable, aiosmtplib.SMTPException, OSError) as problem:
            reason = f"mail waits: {type(problem).__name__}"
            raise TryLater(reason) from problem

    async def send_waiting(self) -> int:
        """
        Send waiting mail, oldest first; return the number sent.

        A message that the server refuses for good is given up: it is noted as
        sent, and logged. One that it does not take now is tried again after five
        minutes and holds up no other: a mailbox may be full for days.

        Raises:
            StoreUnavailable: the mailbox does not answer.
            OSError, aiosmtplib.SMTPException: the server takes nothing now.
        """
        import aiosmtplib  # noqa: PLC0415 - a process without a server never needs it

        count, now = 0, self._now()
        self._refused = {mail_id: at for mail_id, at in self._refused.items() if at > now}
        for mail in await self._mailbox.waiting(_AT_ONCE, self._refused):
            try:
                count += await self._send(mail)
            except (aiosmtplib.SMTPRecipientsRefused, aiosmtplib.SMTPDataError) as problem:
                _log.warning("mail waits: %s", type(problem).__name__)
                self._refused[mail.id] = now + _REFUSED_FOR
            else:
                await self._mailbox.sent(mail.id, self._now())
        return count

    async def _send(self, mail: Mail) -> bool:
        """Send one; False when the server will never take it."""
        import aiosmtplib  # noqa: PLC0415 - a process without a server never needs it

        try:
            await aiosmtplib.send(
                message(mail, self._server.sender),
                hostname=self._server.host,
                port=self._server.port,
                use_tls=self._server.encryption == "tls",
                start_tls=self._server.encryption == "starttls",
                username=self._server.user or None,
                password=self._server.password.encode().decode() or None,
                timeout=self._server.timeout_s,
            )
        except aiosmtplib.SMTPRecipientsRefused as problem:
            if all(each.code >= _FOR_GOOD for each in problem.recipients):
                _log.error("mail given up: %s", mail.id)
                return False
            raise
        return True


def message(mail: Mail, sender: str) -> EmailMessage:
    """Write a message; an invalid address or a line break never gets into a header."""
    made = EmailMessage(policy=SMTP)
    made["From"] = sender
    made["To"] = mail.to
    made["Subject"] = mail.subject
    made["Date"] = format_datetime(mail.created_at)
    made["Message-ID"] = f"<{mail.id}@{sender.rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(mail.text)
    return made


_MARK = "sealed:"
"""Prefix of an encrypted text."""


class SealedMailbox(StoredMailbox):
    """The mailbox with encrypted texts; only ids, addresses and subjects are stored in clear."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        """Encrypt mail in the mailbox of ``database``."""
        super().__init__(database)
        self._sealer = sealer

    async def add(self, connection: AsyncConnection, mail: Mail) -> None:
        """Store a message in the caller's transaction."""
        sealed = self._sealer.seal(mail.text, _row(mail))
        text = _MARK + base64.b64encode(sealed).decode("ascii")
        await super().add(connection, replace(mail, text=text))

    async def waiting(self, most: int, but: Collection[str] = ()) -> Sequence[Mail]:
        """Return unsent mail, oldest first; mail whose key is gone is given up."""
        opened = []
        for mail in await super().waiting(most, but):
            try:
                opened.append(self._opened(mail))
            except SealBroken:
                _log.error("mail given up, its key is gone: %s", mail.id)
                await self.sent(mail.id, mail.created_at)
        return opened

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """Return the newest mail first; mail whose key is gone has no text."""
        return [self._shown(mail) for mail in await super().latest(most, scope)]

    def _shown(self, mail: Mail) -> Mail:
        try:
            return self._opened(mail)
        except SealBroken:
            return replace(mail, text="")

    def _opened(self, mail: Mail) -> Mail:
        """Decrypt a mail; raises SealBroken when its text is clear or its key is gone."""
        if not mail.text:  # it was sent
            return mail
        if not mail.text.startswith(_MARK):
            problem = "the text is not sealed"
            raise SealBroken(problem)
        sealed = base64.b64decode(mail.text.removeprefix(_MARK))
        return replace(mail, text=self._sealer.open(sealed, _row(mail)))


def _row(mail: Mail) -> str:
    """Return the name of the row that a text is sealed for."""
    return f"mailbox:{mail.id}"
