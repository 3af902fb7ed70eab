"""Texts that must not be read over a shoulder: in a log, a traceback or a printed configuration."""

from __future__ import annotations

import re

_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_PASSWORD = re.compile(r"([?&][a-z]*password=)[^&#\s]*", re.IGNORECASE)


class Secret(str):
    """
    A secret; ``repr``, ``str`` and formatting hide it.

    ``encode`` is the one way to its content. An empty one means that none is
    configured.
    """

    __slots__ = ()

    @property
    def shown(self) -> str:
        """Say only whether there is one."""
        return "***" if self else ""

    def __repr__(self) -> str:
        return f"Secret({self.shown!r})"

    def __str__(self) -> str:
        return self.shown


class Address(str):
    """A URL that may carry a password, which ``repr`` hides; ``str`` is the whole of it."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The address without user and password."""
        return without_credentials(self)

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def without_credentials(text: str) -> str:
    """Hide the user and password of every URL in ``text``."""
    return _PASSWORD.sub(r"\1***", _USERINFO.sub("***@", text))
