"""Which browser it is, and who signed in there."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.browsers import (
    Browser,
    Cookie,
    KnownBrowser,
    PanelSession,
    PanelState,
    SignedInBrowser,
)
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import SESSION_REQUIRED
from policies.authentication.session import (
    HARDENED,
    INSECURE,
    BrowserCookie,
    DeviceCookie,
    SessionCookie,
    cookie_value,
)
from tests.unit.refusals import refused
from tests.world.people import call, headed, somebody
from tests.world.standing import NOON

SENT = headed(("Cookie", "__Host-pixgate=abc"))


def browser(state: PanelState = PanelState.FULL, value: str = "abc") -> Browser:
    panel = PanelSession(
        id_hash="h", state=state, csrf="c", created_at=NOON, seen_at=NOON, ends_at=NOON
    )
    return Browser(Cookie(id_hash="h", secret=b"s", value=value), panel)


def finding(found: Browser | Exception | None, seated: SignedInBrowser | Exception | None = None):
    async def find(_value: str) -> Browser | None:
        if isinstance(found, Exception):
            raise found
        return found

    async def authenticate(
        _browser: Browser, *, acts: bool, address: str | None
    ) -> SignedInBrowser:
        del acts, address
        if isinstance(seated, Exception):
            raise seated
        assert seated is not None
        return seated

    return SessionCookie(form=HARDENED, find=find, authenticate=authenticate)


async def test_the_signed_in_user_is_filled_in():
    found, maria, asking = browser(), somebody(), call(SENT)

    await finding(found, SignedInBrowser(found, maria))(asking)

    assert (asking.browser, asking.person, asking.headers) == (found, maria, {})


async def test_a_renewed_session_cookie_is_returned():
    new, asking = browser(value="new"), call(SENT)

    await finding(browser(), SignedInBrowser(new, somebody()))(asking)

    assert asking.headers == {
        "Set-Cookie": "__Host-pixgate=new; Path=/; Secure; HttpOnly; SameSite=Strict"
    }


@pytest.mark.parametrize(
    "found", [None, browser(PanelState.ANONYMOUS), browser(PanelState.MFA_PENDING)], ids=str
)
async def test_a_request_without_a_full_session_is_refused(found: Browser | None):
    asking = call(SENT)

    with refused(SESSION_REQUIRED):
        await finding(found)(asking)

    assert asking.person is None


async def test_without_a_cookie_no_session_is_looked_up():
    with refused(SESSION_REQUIRED):
        await finding(AssertionError("asked"))(call(headed(("Cookie", "theme=dark"))))


@pytest.mark.parametrize("where", ["find", "seat"])
async def test_a_session_is_not_accepted_while_the_store_is_unavailable(where: str):
    silent = StoreUnavailable()
    policy = finding(silent) if where == "find" else finding(browser(), silent)

    with refused(errors.AUTH_UNAVAILABLE):
        await policy(call(SENT))


async def test_an_ended_session_is_refused():
    with refused(SESSION_REQUIRED):
        await finding(browser(), ServiceError(SESSION_REQUIRED))(call(SENT))


async def test_before_sign_in_only_the_browser_is_filled_in():
    found = browser(PanelState.ANONYMOUS)

    async def find(_value: str) -> Browser:
        return found

    asking, without = call(SENT), call(headed())
    await BrowserCookie(HARDENED, find)(asking)
    await BrowserCookie(HARDENED, find)(without)

    assert (asking.browser, asking.person, without.browser) == (found, None, None)


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["a=1"], "1"),
        (["b=2; a=1; c=3"], "1"),
        (["b=2", "a=1"], "1"),
        (["a=1=2"], "1=2"),
        (["a=1; a=2"], ""),
        (["a=1", "a=1"], ""),
        (["A=1"], ""),
        (["aa=1"], ""),
        (["a"], ""),
        ([], ""),
    ],
    ids=str,
)
def test_a_cookie_requires_its_exact_name_and_must_occur_once(lines: list[str], value: str):
    headers = headed(*(("Cookie", each) for each in lines)).headers

    assert cookie_value(headers, "a") == value


def test_a_cookie_is_set_and_deleted_with_the_same_attributes():
    """A browser takes away only what has the same path."""
    cookie = browser().cookie

    assert HARDENED.taken == (
        "__Host-pixgate=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"
    )
    assert INSECURE.given(cookie) == "pixgate-dev=abc; Path=/; HttpOnly; SameSite=Strict"


@pytest.mark.parametrize(
    ("line", "is_known"),
    [
        ("__Host-pixgate-device=d", True),
        ("__Host-pixgate=abc; __Host-pixgate-device=d", True),
        ("__Host-pixgate-device=other", False),
        ("__Host-pixgate-device=d; __Host-pixgate-device=d", False),
        ("pixgate-device-dev=d", False),
        ("__Host-pixgate=d", False),
        ("__Host-pixgate-device=", False),
    ],
)
def test_a_known_browser_is_recognized_only_by_its_own_cookie(line: str, is_known: bool):
    """A request without it is accepted all the same."""
    known, asking = KnownBrowser(user_id="u", id="i"), call(headed(("Cookie", line)))

    DeviceCookie(HARDENED, {"d": known}.get)(asking)

    assert asking.known == (known if is_known else None)
