"""
Protection against cross-site request forgery.

Four layers: the cookie is SameSite=Strict, the browser says where the request
comes from, scripts send a header that no foreign form can, and a write carries the
session's token.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.core.browsers import Browser
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.core.headers import Headers
from gateway.core.user_errors import CSRF_FAILED, SESSION_REQUIRED

TOKEN: Final = "X-CSRF-Token"  # noqa: S105 - the name of a header
MARK: Final = "X-Requested-With"
_MARKED: Final = "panel"
_OUR_PAGE: Final = "same-origin"
_OURS: Final = frozenset({_OUR_PAGE, "none"})
_JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
_NAVIGATES: Final = ("navigate", "document")

Origin = Callable[[], str]
"""Where our pages come from, ``https://host``; asked each time, for a port may be known late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFromOurPage:
    """
    Layer two for reads, and where no cookie counts: foreign pages are refused.

    Its blind requests would else use up the quota of its visitor.

    Attributes:
        marked: A script's call says so in ``X-Requested-With: panel``, which
            no foreign page can without being asked about first.
    """

    origin: Origin
    marked: bool = False
    refuses = (CSRF_FAILED,)

    def __call__(self, call: Call) -> None:
        """Let the call on, or refuse with ``CSRF_FAILED`` (403)."""
        headers = call.asked.headers
        _check_place(headers, self.origin(), silent=True)
        if self.marked and list(headers.getall(MARK, ())) != [_MARKED]:
            raise ServiceError(CSRF_FAILED, "token")


@dataclass(frozen=True, slots=True)
class WriteFromOurPage:
    """
    Layers two and three for writes: from our origin, and no form's media type.

    A browser that says nothing about where the request comes from is refused too.
    """

    origin: Origin
    refuses = (CSRF_FAILED,)

    def __call__(self, call: Call) -> None:
        """Let the call on, or refuse with ``CSRF_FAILED`` (403)."""
        _check_place(call.asked.headers, self.origin(), silent=False)
        if _media(call) not in {None, _JSON}:
            raise ServiceError(CSRF_FAILED, "content_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpensOurPage:
    """
    Layer two for pages: opened from a page of ours, or by the person themselves.

    A link in a mail arrives without the cookie, since that is SameSite=Strict: for a
    page behind the sign-in this is a visitor who is not signed in.

    Attributes:
        links: Links of others may open it; for pages before the sign-in.
    """

    origin: Origin
    links: bool = False
    refuses = (CSRF_FAILED, SESSION_REQUIRED)

    def __call__(self, call: Call) -> None:
        """Accept the call; a link elsewhere is a visitor not signed in, all else is forged."""
        headers = call.asked.headers
        try:
            _check_place(headers, self.origin(), silent=True)
        except ServiceError:
            if not follows_link(headers):
                raise
            if not self.links:
                raise ServiceError(SESSION_REQUIRED, "missing") from None


def follows_link(headers: Headers) -> bool:
    """Return whether a browser opens this as a page through a link on another site."""
    mode, dest = headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")
    return (mode, dest) == _NAVIGATES and headers.get("Sec-Fetch-Site") not in _OURS


@dataclass(frozen=True, slots=True)
class FormFromOurPage:
    """
    Layers two and three for forms of pages: from our origin, in the form's one media type.

    Refuses as ``WriteFromOurPage`` does.
    The fourth, the token, is a field of the form: it is compared when the body has been read.

    Attributes:
        media: The media type; that of forms with a file is another one.
    """

    origin: Origin
    media: str = FORM
    refuses = (CSRF_FAILED,)

    def __call__(self, call: Call) -> None:
        """Let the call on, or refuse with ``CSRF_FAILED`` (403)."""
        _check_place(call.asked.headers, self.origin(), silent=False)
        if _media(call) != self.media:
            raise ServiceError(CSRF_FAILED, "content_type")


def mask_token(token: str, mask: bytes) -> str:
    """
    Write a token as a page holds it: another text with every ``mask`` of the token's length.

    Pages are compressed, and their text may be typed by an attacker: the length of
    an answer would else reveal the token, guess by guess (BREACH).
    """
    hidden = bytes(one ^ other for one, other in zip(token.encode(), mask, strict=True))
    return base64.urlsafe_b64encode(mask + hidden).decode("ascii")


def _unmasked(sent: bytes) -> bytes:
    """Return the unmasked token; nothing for an invalid text."""
    try:
        both = base64.b64decode(sent, b"-_", validate=True)
    except ValueError:
        return b""
    half = len(both) // 2
    return bytes(one ^ other for one, other in zip(both[:half], both[half:], strict=False))


def check_token(sent: str, browser: Browser | None) -> None:
    """
    Check a token, masked or as it is, in constant time.

    Raises:
        ServiceError: ``CSRF_FAILED`` (403) for another one, and without a session;
            ``SESSION_REQUIRED`` (401) for a cookie that was replaced and reads only.
    """
    if browser is not None and browser.reads_only:
        raise ServiceError(SESSION_REQUIRED, "replaced")
    expected = b"" if browser is None else browser.panel.csrf.encode()
    given = _bytes(sent)
    is_right = any(hmac.compare_digest(each, expected) for each in (given, _unmasked(given)))
    if expected and is_right:
        return
    if browser is not None and browser.answer_lost:
        raise ServiceError(CSRF_FAILED, "answer_lost")
    raise ServiceError(CSRF_FAILED, "token")


@dataclass(frozen=True, slots=True)
class CsrfToken:
    """
    Layer four: a write carries the token of the session that its cookie stands for.

    Any other is refused; compared in constant time.

    Attributes:
        without_session: Lets on who has no session at all, where a repeated
            request must not fail, such as signing out twice.
    """

    without_session: bool = False
    refuses = (CSRF_FAILED,)

    def __call__(self, call: Call) -> None:
        """Let the call on, or refuse with ``CSRF_FAILED`` (403)."""
        if call.browser is None and self.without_session:
            return
        sent = call.asked.headers.getall(TOKEN, ())
        check_token(sent[0] if len(sent) == 1 else "", call.browser)


def _media(call: Call) -> str | None:
    """Return the media type without its parameters; None where there is none."""
    media = call.asked.content_type
    return None if media is None else media.partition(";")[0].strip().lower()


def _check_place(headers: Headers, origin: str, *, silent: bool) -> None:
    """Refuse foreign origins; ``silent`` admits a client that states no origin."""
    sites = headers.getall("Sec-Fetch-Site", ())
    if sites:
        if len(sites) != 1 or sites[0] not in _OURS:
            raise ServiceError(CSRF_FAILED, "fetch_site")
        if sites[0] == _OUR_PAGE:
            return
        # what the person began themselves comes from no page: it has no origin, or ours
        silent = True
    origins = headers.getall("Origin", ())
    if origins:
        if len(origins) != 1 or origins[0] != origin:
            raise ServiceError(CSRF_FAILED, "origin")
    elif not silent:
        raise ServiceError(CSRF_FAILED, "origin")


def _bytes(text: str) -> bytes:
    """Read any bytes: bytes that are not UTF-8 are no token."""
    return text.encode("utf-8", "surrogateescape")
