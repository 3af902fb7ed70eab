"""TLS sessions that the bank has offered: a fresh connection need not begin from nothing."""

from __future__ import annotations

import ssl
from collections import deque
from math import inf
from typing import Final, cast

from gateway.domain.kernel.clocks import Monotonic

_SESSIONS: Final = 64
"""As many as calls may be in flight by default; each is used once, as RFC 8446 C.4 advises."""

_VERIFIED_S: Final = 600.0
"""A resumed connection shows no certificate: after this long one is looked at again."""


class SecuredObject(ssl.SSLObject):
    """
    The TLS of one connection.

    Attributes:
        verified_at: When the certificate that its session goes back to was looked at; seconds.
    """

    verified_at: float = inf


class ResumingContext(ssl.SSLContext):
    """A context for one bank, whose connections begin with a session of an earlier one."""

    def __init__(self, _protocol: int, clock: Monotonic) -> None:
        super().__init__()
        self.sslobject_class = SecuredObject
        self._clock = clock
        self._sessions: deque[tuple[ssl.SSLSession, float]] = deque(maxlen=_SESSIONS)
        self._kept_from = -inf

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002 - the standard library's signature
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> SecuredObject:
        """Begin a connection's TLS, with the session that was offered last."""
        now = self._clock()
        verified_at = now
        while session is None and self._sessions:
            offered, since = self._sessions.pop()
            if now < since + _VERIFIED_S:
                session, verified_at = offered, since
        made = super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
        secured = cast("SecuredObject", made)
        secured.verified_at = verified_at
        return secured

    def keep(self, secured: SecuredObject) -> None:
        """Keep the session of a connection that has brought an answer, if it can be resumed."""
        session = secured.session
        if session is None or not (session.has_ticket or session.id):
            return
        if self._clock() < self._kept_from:
            return
        verified_at = secured.verified_at if secured.session_reused else self._clock()
        self._sessions.append((session, verified_at))

    def distrust(self) -> None:
        """Begin from nothing for ten minutes: a handshake has failed, perhaps for its session."""
        self._sessions.clear()
        self._kept_from = self._clock() + _VERIFIED_S
