"""Security events in the words of OWASP's logging vocabulary: who, never with what."""

from __future__ import annotations

from typing import Final

import structlog

from gateway.telemetry.ports import Count, Event

_SESSION: Final = {
    "created": "session_created",
    "rotated": "session_renewed",
    **dict.fromkeys(("idle_end", "absolute_end", "revoked"), "session_expired"),
}
_ALARMS: Final = frozenset({"authn_token_reuse", "authn_factor_reuse", "authn_login_lock"})
_REUSES: Final = {
    "authn_token_reuse": (Event.TOKEN_REFRESH, "reuse_attack"),
    "authn_factor_reuse": (Event.MFA, "totp.reused"),
}


class SecurityLog:
    """Tells of sign-ins and sessions, to the log and to the metrics."""

    def __init__(self, count: Count) -> None:
        """Count with ``count``."""
        self._count = count
        self._log = structlog.get_logger("gateway.security")

    def on_event(self, word: str, user_id: str) -> None:
        """Log what befell a person; ``user_id`` is empty for nobody known."""
        say = self._log.warning if word in _ALARMS else self._log.info
        say(word, user_id=user_id)
        if word in _REUSES:
            self._count(*_REUSES[word])

    def count(self, event: Event, label: str) -> None:
        """Count an event; what becomes of a session is logged too."""
        self._count(event, label)
        word = _SESSION.get(label, "") if event is Event.SESSION_EVENT else ""
        if word:
            self._log.info(word, reason_id=label)
