"""A browser and its cookie, and what the cookie stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from gateway.domain.identity.panel_sessions import PanelSession
from gateway.domain.identity.sessions import SignedInUser


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """
    The two halves of an opaque cookie.

    Attributes:
        id_hash: SHA-256 of the id half in hexadecimal, the key of the row.
        secret: The other half, under which tokens are sealed; kept nowhere.
        value: Both, as the browser keeps them.
    """

    id_hash: str
    secret: bytes = field(repr=False)
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser whose cookie stands for something."""

    cookie: Cookie
    panel: PanelSession


@dataclass(frozen=True, slots=True)
class SignedInBrowser:
    """A browser in which somebody is signed in; its cookie may be newer than the one it sent."""

    browser: Browser
    person: SignedInUser


KNOWN_FOR: Final = timedelta(days=90)
"""How long a browser is known after the latest sign-in there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBrowser:
    """
    A browser in which a person has signed in before, by its device cookie.

    It proves nothing about who uses it, but wrong guesses elsewhere do not lock it out.

    Attributes:
        user_id: The one person it is known for.
        id: Names it, so that what is guessed in it is counted.
    """

    user_id: str
    id: str
