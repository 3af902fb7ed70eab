"""The outbox with encrypted texts: somebody who reads the store finds no link."""

from __future__ import annotations

import base64
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from gateway.core.company_scope import CompanyScope
from gateway.identity.challenges import Mail, Outbox
from gateway.security.sealing import SealBroken, Sealer

_log = logging.getLogger(__name__)

_MARK = "sealed:"
"""Prefix of an encrypted text."""


class SealedOutbox:
    """An ``Outbox`` over another one; only ids, addresses and subjects are stored in clear."""

    def __init__(self, outbox: Outbox, sealer: Sealer) -> None:
        """Encrypt what goes into ``outbox``."""
        self._outbox = outbox
        self._sealer = sealer

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        sealed = self._sealer.seal(mail.text, _row(mail))
        text = _MARK + base64.b64encode(sealed).decode("ascii")
        await self._outbox.put(replace(mail, text=text))

    async def waiting(self, most: int, but: Collection[str] = ()) -> Sequence[Mail]:
        """Return unsent mail, oldest first; mail whose key is gone is given up."""
        opened = []
        for mail in await self._outbox.waiting(most, but):
            try:
                opened.append(self._opened(mail))
            except SealBroken:
                _log.error("mail given up, its key is gone: %s", mail.id)
                await self._outbox.sent(mail.id, mail.created_at)
        return opened

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Mark a mail as sent and delete its text."""
        await self._outbox.sent(mail_id, at)

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """Return the newest mail first; mail whose key is gone has no text."""
        return [self._shown(mail) for mail in await self._outbox.latest(most, scope)]

    async def forget(self, before: datetime) -> int:
        """Delete mail written before a time, sent or not; return how many."""
        return await self._outbox.forget(before)

    def _shown(self, mail: Mail) -> Mail:
        """Decrypt a mail for display."""
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
    return f"outbox:{mail.id}"
