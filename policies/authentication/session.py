"""Authentication of browsers by cookies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from gateway.core import errors
from gateway.core.browsers import Browser, Cookie, KnownBrowser, PanelState, SignedInBrowser
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.core.headers import Headers
from gateway.core.user_access import ANYWHERE
from gateway.core.user_errors import SESSION_REQUIRED
from policies.store_silence import asking_the_store

SET_COOKIE: Final = "Set-Cookie"
ASKED_BY: Final = "X-Asked-By"
_TIMER: Final = "timer"
"""What a page's own timer says of itself: nobody acts, so nobody's session lives longer."""

Find = Callable[[str], Awaitable[Browser | None]]
"""Return what a cookie's value stands for; None for nothing."""

Read = Callable[[str], KnownBrowser | None]
"""Read a device cookie's value; None for one that is not ours."""


class Authenticate(Protocol):
    """Returns the signed-in user; SESSION_REQUIRED for an ended session."""

    def __call__(
        self, browser: Browser, *, acts: bool, address: str | None
    ) -> Awaitable[SignedInBrowser]:
        """
        Keep the session alive too if the person ``acts``, and a timer did not ask.

        It must be known at the network of ``address``, and nothing becomes of it where it is not;
        None asks for no network.
        """


@dataclass(frozen=True, slots=True)
class CookieForm:
    """
    Form of the cookies; the session's lives as long as the browser runs.

    Attributes:
        device: The name of the device cookie, which outlives the session.
        secure: False on plain HTTP in a sandbox alone, where names have no prefix.
    """

    name: str
    device: str
    secure: bool

    def given(self, cookie: Cookie) -> str:
        """Write the header that gives a cookie."""
        return f"{self.name}={cookie.value}{self._attributes}"

    def remembered(self, value: str, lasts: timedelta) -> str:
        """Write the header that gives a device cookie."""
        return f"{self.device}={value}{self._attributes}; Max-Age={int(lasts.total_seconds())}"

    @property
    def taken(self) -> str:
        """Write the header that takes the cookie away."""
        return f"{self.name}={self._attributes}; Max-Age=0"

    @property
    def _attributes(self) -> str:
        secure = "; Secure" if self.secure else ""
        return f"; Path=/{secure}; HttpOnly; SameSite=Strict"


HARDENED: Final = CookieForm("__Host-pixgate", "__Host-pixgate-device", secure=True)
INSECURE: Final = CookieForm("pixgate-dev", "pixgate-device-dev", secure=False)


@dataclass(frozen=True, slots=True)
class BrowserCookie:
    """Finds the browser; no sign-in is needed."""

    form: CookieForm
    find: Find
    refuses = (errors.AUTH_UNAVAILABLE,)

    async def __call__(self, call: Call) -> None:
        """Fill in the browser, if the cookie identifies one."""
        call.browser = await _find(call, self.form.name, self.find)


@dataclass(frozen=True, slots=True)
class DeviceCookie:
    """Finds the user for whom this browser is known, by its cookie alone."""

    form: CookieForm
    read: Read
    refuses = ()

    def __call__(self, call: Call) -> None:
        """Fill in the known browser, where the cookie is one of ours."""
        value = cookie_value(call.asked.headers, self.form.device)
        if value:
            call.known = self.read(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCookie:
    """Finds the signed-in user; tokens are refreshed when needed."""

    form: CookieForm
    find: Find
    authenticate: Authenticate
    refuses = (SESSION_REQUIRED, errors.AUTH_UNAVAILABLE)

    async def __call__(self, call: Call) -> None:
        """
        Fill in the browser and the person; a cookie that was renewed goes back.

        A timer's request does not extend a session.

        Raises:
            ServiceError: ``SESSION_REQUIRED`` (401) without a full session, and with the reason
                ``network_new`` at a network that is new to it,
                ``SVC.SYS.002`` (503) when the store does not answer.
        """
        browser = await _find(call, self.form.name, self.find)
        if browser is None:
            raise ServiceError(SESSION_REQUIRED, "missing")
        if browser.panel.state is not PanelState.FULL:
            raise ServiceError(SESSION_REQUIRED, "invalid")
        acts = call.asked.headers.get(ASKED_BY) != _TIMER
        with asking_the_store():
            address = None if call.quota in ANYWHERE else call.asked.address
            signed_in = await self.authenticate(browser, acts=acts, address=address)
        call.browser, call.person = signed_in.browser, signed_in.person
        if signed_in.browser.cookie.value != browser.cookie.value:
            call.headers[SET_COOKIE] = self.form.given(signed_in.browser.cookie)


async def _find(call: Call, name: str, find: Find) -> Browser | None:
    """Look the cookie up, if there is one of its name."""
    value = cookie_value(call.asked.headers, name)
    if not value:
        return None
    with asking_the_store():
        return await find(value)


def cookie_value(headers: Headers, name: str) -> str:
    """Read one cookie; a name that was sent twice counts as absent, since one was planted."""
    found = [
        value.strip()
        for line in headers.getall("Cookie", ())
        for key, _, value in (pair.partition("=") for pair in line.split(";"))
        if key.strip() == name
    ]
    return found[0] if len(found) == 1 else ""
