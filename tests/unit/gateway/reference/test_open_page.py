"""The reference without a sign-in: strict, the same for everybody, calls in the sandbox alone."""

import re

import pytest

from gateway.net.server.lane import Reply
from gateway.reference.open_page import PATH, open_page


def static(name: str) -> str:
    return f"/panel/static/0/{name}"


def shown(tries: bool):
    return open_page(static, tries=tries)[PATH].reply("")


def text_of(reply: Reply) -> str:
    return (reply.body or b"").decode()


def test_the_open_page_sets_no_cookie_and_no_weaker_policy():
    answer = shown(tries=True)

    assert "Set-Cookie" not in answer.headers
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|style=|https?:", text_of(answer))


@pytest.mark.parametrize(("tries", "calls"), [(True, "get post delete"), (False, "")])
def test_calls_can_be_sent_from_the_page_in_the_sandbox_only(tries: bool, calls: str):
    text = text_of(shown(tries))

    assert f'data-calls="{calls}"' in text
    assert ("Authorize" in text) is tries


def test_without_vendored_files_the_page_shows_a_note():
    text = text_of(
        open_page(lambda name: "" if "swagger" in name else name, tries=True)[PATH].reply("")
    )

    assert "are not installed here" in text
    assert "<script" not in text
