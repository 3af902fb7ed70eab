"""Requests and answers."""

from __future__ import annotations

import itertools
import string
from contextlib import suppress
from urllib.parse import quote

import pytest

from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest, filled
from gateway.banks.port.providers import Phase, Refused


def money(method: str, path: str, template: str = "/pix/{id}", **fields: str) -> ProviderRequest:
    return ProviderRequest(
        operation="create_payout", method=method, template=template, path=path, kind=Kind.PAYOUT,
        **fields,  # type: ignore[arg-type]
    )  # fmt: skip


KEYS = ["0123456789abcdef0123456789abcdef", "a/b", "é ~", "%2F"]


def test_a_post_moves_money_with_or_without_a_body():
    for body in (b"", b"{}"):
        assert money("POST", "/payments", "/payments", body=body).kind is Kind.PAYOUT  # type: ignore[arg-type]


def test_a_put_to_the_path_of_our_key_moves_money():
    for key, query in itertools.product(KEYS, ("", "?a=b", "?next=/other")):
        path = filled("/v3/pix/{id}", id=key) + query

        assert money("PUT", path, key=key).kind is Kind.PAYOUT


def test_any_other_request_that_moves_money_is_refused():
    """An intermediary may send it again, and no key would show that it is the same."""
    others = [
        ("PUT", "/pix/k1", "/pix/{id}", ""),
        ("PUT", "/pix/k1", "/pix/{id}", "k2"),
        ("PUT", "/pix/k1", "/pix/{id}", "1"),
        ("PUT", "/pix/k1", "/pix/k1", "k1"),
        ("PUT", "/pix/k1/", "/pix/{id}", "k1"),
        ("PUT", "/pix/k1/confirm", "/pix/{id}/confirm", "k1"),
        ("PUT", "/pix/?id=k1", "/pix/{id}", "k1"),
        ("PUT", "/pix/?id=/k1", "/pix/{id}", "k1"),
        ("PUT", "/pix/a/b", "/pix/{id}", "a/b"),
        ("PATCH", "/pix/k1", "/pix/{id}", "k1"),
        ("GET", "/pix/k1", "/pix/{id}", "k1"),
        ("DELETE", "/pix/k1", "/pix/{id}", "k1"),
        ("put", "/pix/k1", "/pix/{id}", "k1"),
        ("post", "/pix", "/pix", ""),
    ]
    allowed = []
    for method, path, template, key in others:
        with suppress(ValueError):
            allowed.append(money(method, path, template, key=key))

    assert allowed == []


def test_a_path_parameter_stays_one_step():
    expected = {
        "plain-1": "/a/plain-1/b",
        "a/b": "/a/a%2Fb/b",
        "a?b=c#d": "/a/a%3Fb%3Dc%23d/b",
        "../x": "/a/..%2Fx/b",
        "{x}": "/a/%7Bx%7D/b",
        "%2e%2e": "/a/%252e%252e/b",
        "é\r\n": "/a/%C3%A9%0D%0A/b",
    }

    assert {step: filled("/a/{x}/b", x=step) for step in expected} == expected


def test_every_special_character_in_a_path_parameter_is_encoded():
    """The shortcut for plain segments must not let any of them through."""
    plain = frozenset(string.ascii_letters + string.digits + "-_~")

    for sign in map(chr, range(256)):
        if sign != ".":
            assert filled("/{x}", x=sign) == "/" + (sign if sign in plain else quote(sign, safe=""))


def test_a_path_parameter_that_cannot_be_encoded_is_refused():
    for step in ("", ".", "..", "\ud800"):
        with pytest.raises(Refused) as refused:
            filled("/a/{x}/b", x=step)

        assert refused.value.reason == "unsendable"


def test_neither_credentials_nor_bodies_are_in_a_printed_request():
    request = ProviderRequest(
        operation="get_balance", method="GET", template="/", path="/",
        headers={"Authorization": "canary"}, body=b"canary",
    )  # fmt: skip

    assert "canary" not in repr(request)


def test_an_answer_proves_that_the_request_was_sent():
    answer = ProviderAnswer(status=409, headers={}, body=b"canary")

    evidence = answer.evidence("duplicate", "DUP")

    assert (evidence.phase, evidence.bytes_left) == (Phase.ANSWERED, True)
    assert (evidence.http_status, evidence.provider_code) == (409, "DUP")
    assert "canary" not in repr(answer)
