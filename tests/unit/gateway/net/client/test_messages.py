"""Requests and answers."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest

from gateway.domain.bank.providers import Phase, Refused
from gateway.net.client.messages import Kind, ProviderAnswer, ProviderRequest, filled


@pytest.mark.parametrize(("method", "body"), [("PUT", b"{}"), ("GET", b"{}"), ("POST", b"")])
def test_money_is_moved_by_a_post_with_a_body(method: str, body: bytes):
    """Anything else is sent again by somebody on the way, or leaves unwatched."""
    with pytest.raises(ValueError, match="POST"):
        ProviderRequest(
            operation="create_payout", method=method, template="/", path="/", body=body,
            kind=Kind.PAYOUT,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ("plain-1", "/a/plain-1/b"),
        ("a/b", "/a/a%2Fb/b"),
        ("a?b=c#d", "/a/a%3Fb%3Dc%23d/b"),
        ("../x", "/a/..%2Fx/b"),
        ("{x}", "/a/%7Bx%7D/b"),
        ("%2e%2e", "/a/%252e%252e/b"),
        ("é\r\n", "/a/%C3%A9%0D%0A/b"),
    ],
)
def test_a_step_stays_one_step(step: str, path: str):
    assert filled("/a/{x}/b", x=step) == path


def test_every_sign_is_encoded_that_is_more_than_itself_in_a_path():
    """One by one: a short cut for plain steps must let no other through."""
    plain = frozenset(string.ascii_letters + string.digits + "-_~")

    for sign in map(chr, range(256)):
        if sign != ".":
            assert filled("/{x}", x=sign) == "/" + (sign if sign in plain else quote(sign, safe=""))


@pytest.mark.parametrize("step", ["", ".", "..", "\ud800"])
def test_a_step_no_encoding_can_save_is_refused(step: str):
    with pytest.raises(Refused) as refused:
        filled("/a/{x}/b", x=step)

    assert refused.value.reason == "unsendable"


def test_neither_credentials_nor_bodies_are_in_a_printed_request():
    request = ProviderRequest(
        operation="get_balance", method="GET", template="/", path="/",
        headers={"Authorization": "canary"}, body=b"canary",
    )  # fmt: skip

    assert "canary" not in repr(request)


def test_an_answer_is_evidence_that_bytes_left():
    answer = ProviderAnswer(status=409, headers={}, body=b"canary")

    evidence = answer.evidence("duplicate", "DUP")

    assert (evidence.phase, evidence.bytes_left) == (Phase.ANSWERED, True)
    assert (evidence.http_status, evidence.provider_code) == (409, "DUP")
    assert "canary" not in repr(answer)
