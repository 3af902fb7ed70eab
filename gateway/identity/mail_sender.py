"""
The outbox emptied into a mail server, in the background.

A message is sent at least once: a worker that dies between sending and noting
it sends it again, and so may two whose lease was lost. Links in it work once.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from gateway.config.identity import Mail as Server
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.identity.challenges import Mail, Outbox
from gateway.process.periodic_task import Schedule, TryLater

_log = logging.getLogger(__name__)

_AT_ONCE = 20
"""Mails of one run: few enough to hold in memory and to send within seconds."""
_LONGEST_PAUSE_S = 60.0
"""Between two attempts: a code or link is still of use when the server is back."""
_REFUSED_FOR = timedelta(minutes=5)
"""Servers that test a sender's patience ask for as much."""
_FOR_GOOD = 500
"""From this status on, a server's refusal is final (RFC 5321, part 4.2.1)."""


def sending(server: Server) -> Schedule:
    """Say when mail is sent: often, and ever more seldom while the server fails."""
    return Schedule(every_s=server.every_s, delayed=True, backoff_to_s=_LONGEST_PAUSE_S)


class MailSender:
    """Sends what waits; a server that fails is tried again, less and less often."""

    def __init__(self, outbox: Outbox, server: Server, now: Now) -> None:
        """Take the outbox and the server; without one nothing is ever sent."""
        self._outbox = outbox
        self._server = server
        self._now = now
        self._refused: dict[str, datetime] = {}

    async def run_once(self) -> None:
        """
        Send what waits, where there is a server.

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
        Send what waits, oldest first; return how many went out.

        A message that the server refuses for good is given up: it is noted as
        sent, and logged. One that it does not take now is tried again after five
        minutes and holds up no other: a mailbox may be full for days.

        Raises:
            StoreUnavailable: the outbox does not answer.
            OSError, aiosmtplib.SMTPException: the server takes nothing now.
        """
        import aiosmtplib  # noqa: PLC0415 - a process without a server never needs it

        count, now = 0, self._now()
        self._refused = {mail_id: at for mail_id, at in self._refused.items() if at > now}
        for mail in await self._outbox.waiting(_AT_ONCE, self._refused):
            try:
                count += await self._send(mail)
            except (aiosmtplib.SMTPRecipientsRefused, aiosmtplib.SMTPDataError) as problem:
                _log.warning("mail waits: %s", type(problem).__name__)
                self._refused[mail.id] = now + _REFUSED_FOR
            else:
                await self._outbox.sent(mail.id, self._now())
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
    """Write a message; what is no address or holds a line break never becomes a header."""
    made = EmailMessage(policy=SMTP)
    made["From"] = sender
    made["To"] = mail.to
    made["Subject"] = mail.subject
    made["Date"] = format_datetime(mail.created_at)
    made["Message-ID"] = f"<{mail.id}@{sender.rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(mail.text)
    return made
