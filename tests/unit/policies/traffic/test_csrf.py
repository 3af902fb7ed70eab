"""The layers against forged requests, each on its own."""

from __future__ import annotations

import pytest

from gateway.core.browsers import Browser, Cookie, PanelSession, PanelState
from gateway.core.user_errors import CSRF_FAILED, SESSION_REQUIRED
from policies.traffic.csrf import (
    CsrfToken,
    FormFromOurPage,
    OpensOurPage,
    ReadFromOurPage,
    WriteFromOurPage,
    check_token,
    mask_token,
)
from tests.unit.refusals import refused
from tests.world.people import call, headed
from tests.world.standing import NOON

ORIGIN = "https://pix.example"
Lines = list[tuple[str, str]]


def ours() -> str:
    """Where our pages come from."""
    return ORIGIN


def browser(csrf: str = "right") -> Browser:
    panel = PanelSession(
        id_hash="h",
        state=PanelState.FULL,
        csrf=csrf,
        created_at=NOON,
        seen_at=NOON,
        ends_at=NOON,
    )
    return Browser(Cookie(id_hash="h", secret=b"", value=""), panel)


PLACES: list[tuple[Lines, str]] = [
    ([("Sec-Fetch-Site", "same-origin")], ""),
    ([("Sec-Fetch-Site", "none")], ""),
    ([("Sec-Fetch-Site", "same-origin"), ("Origin", "https://evil.example")], ""),
    ([("Sec-Fetch-Site", "none"), ("Origin", ORIGIN)], ""),
    ([("Sec-Fetch-Site", "none"), ("Origin", "http://evil.example")], "origin"),
    ([("Sec-Fetch-Site", "none"), ("Origin", "null")], "origin"),
    ([("Origin", ORIGIN)], ""),
    ([("Sec-Fetch-Site", "cross-site")], "fetch_site"),
    ([("Sec-Fetch-Site", "same-site")], "fetch_site"),
    ([("Sec-Fetch-Site", "")], "fetch_site"),
    ([("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "none")], "fetch_site"),
    ([("Sec-Fetch-Site", "cross-site"), ("Origin", ORIGIN)], "fetch_site"),
    ([("Origin", "null")], "origin"),
    ([("Origin", "")], "origin"),
    ([("Origin", ORIGIN + "/")], "origin"),
    ([("Origin", ORIGIN + ":444")], "origin"),
    ([("Origin", ORIGIN), ("Origin", ORIGIN)], "origin"),
]


@pytest.mark.parametrize(("lines", "reason"), [*PLACES, ([], "origin")], ids=str)
def test_a_write_requires_our_origin(lines: Lines, reason: str):
    asking = call(headed(*lines))

    if not reason:
        WriteFromOurPage(ours)(asking)
        return
    with refused(CSRF_FAILED) as refusal:
        WriteFromOurPage(ours)(asking)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(("lines", "reason"), [*PLACES, ([], "")], ids=str)
def test_a_read_with_a_foreign_origin_is_refused(lines: Lines, reason: str):
    asking, policy = call(headed(*lines)), ReadFromOurPage(origin=ours, marked=False)

    if not reason:
        policy(asking)
        return
    with refused(CSRF_FAILED) as refusal:
        policy(asking)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(("lines", "reason"), [*PLACES, ([], "")], ids=str)
def test_a_program_is_accepted_and_a_foreign_page_is_refused(lines: Lines, reason: str):
    """Where no cookie counts: a page of others would use up the quota of who looks at it."""
    asking = call(headed(*lines, ("Content-Type", "text/plain")))

    if not reason:
        ReadFromOurPage(origin=ours)(asking)
        return
    with refused(CSRF_FAILED) as refusal:
        ReadFromOurPage(origin=ours)(asking)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("marks", "is_let_on"),
    [
        (["panel"], True),
        ([], False),
        (["Panel"], False),
        (["panel", "panel"], False),
        (["XMLHttpRequest"], False),
    ],
    ids=str,
)
def test_a_script_s_read_requires_its_header(marks: list[str], is_let_on: bool):
    asking = call(headed(*(("X-Requested-With", each) for each in marks)))
    policy = ReadFromOurPage(origin=ours, marked=True)

    if is_let_on:
        policy(asking)
        return
    with refused(CSRF_FAILED):
        policy(asking)


@pytest.mark.parametrize(
    ("media", "is_let_on"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("text/plain", False),
        ("text/plain; application/json", False),
        ("multipart/form-data", False),
        ("application/x-www-form-urlencoded", False),
        ("application/jsonx", False),
        ("", False),
    ],
)
def test_a_write_with_a_plain_form_media_type_is_refused(media: str, is_let_on: bool):
    asking = call(headed(("Origin", ORIGIN), ("Content-Type", media)))

    if is_let_on:
        WriteFromOurPage(ours)(asking)
        return
    with refused(CSRF_FAILED) as refusal:
        WriteFromOurPage(ours)(asking)
    assert refusal.value.reason == "content_type"


@pytest.mark.parametrize(
    ("tokens", "is_let_on"),
    [
        (["right"], True),
        ([], False),
        ([""], False),
        (["wrong"], False),
        (["right", "right"], False),
        (["Right"], False),
        (["righté"], False),
        (["\udcff"], False),
    ],
    ids=str,
)
def test_a_write_requires_exactly_one_csrf_token(tokens: list[str], is_let_on: bool):
    asking = call(headed(*(("X-CSRF-Token", each) for each in tokens)), browser=browser())

    if is_let_on:
        CsrfToken()(asking)
        return
    with refused(CSRF_FAILED) as refusal:
        CsrfToken()(asking)
    assert refusal.value.reason == "token"


def test_without_a_session_no_csrf_token_is_valid():
    with refused(CSRF_FAILED):
        CsrfToken()(call(headed(("X-CSRF-Token", ""))))


def test_a_sessionless_route_requires_a_token_only_with_a_session():
    """With a session it is required."""
    policy = CsrfToken(without_session=True)

    policy(call(headed()))
    with refused(CSRF_FAILED):
        policy(call(headed(), browser=browser()))


MASK = b"\x00\x01\xfe\xff\x80"


@pytest.mark.parametrize(
    "token",
    ["", "wrong", "right ", "\udcff", mask_token("wrong", MASK), mask_token("right", MASK)[4:]],
)
def test_a_form_must_have_the_csrf_token_of_its_session(token: str):
    """As it is or masked, with whatever mask."""
    check_token("right", browser())
    check_token(mask_token("right", MASK), browser())
    check_token(mask_token("right", bytes(5)), browser())

    with refused(CSRF_FAILED):
        check_token(token, browser())
    with refused(CSRF_FAILED):
        check_token(token, browser(csrf=""))
    with refused(CSRF_FAILED):
        check_token(token, None)


@pytest.mark.parametrize(
    ("media", "is_let_on"),
    [
        ("application/x-www-form-urlencoded", True),
        ("application/x-www-form-urlencoded; charset=utf-8", True),
        ("text/plain", False),
        ("multipart/form-data", False),
        ("", False),
    ],
)
def test_a_form_has_exactly_one_accepted_media_type(media: str, is_let_on: bool):
    sent = headed(("Sec-Fetch-Site", "same-origin"), ("Content-Type", media))

    if is_let_on:
        FormFromOurPage(ours)(call(sent))
        return
    with refused(CSRF_FAILED):
        FormFromOurPage(ours)(call(sent))


LINK = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]


def test_a_link_from_another_site_opens_only_pages_before_sign_in():
    followed = call(headed(*LINK, ("Sec-Fetch-Dest", "document")))

    OpensOurPage(origin=ours, links=True)(followed)

    with refused(SESSION_REQUIRED):
        OpensOurPage(origin=ours)(followed)
    for links in (True, False):
        with refused(CSRF_FAILED):
            OpensOurPage(origin=ours, links=links)(
                call(headed(*LINK, ("Sec-Fetch-Dest", "iframe")))
            )
