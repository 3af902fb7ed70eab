"""Replies of what operations return and of what refuses."""

from __future__ import annotations

import json
from decimal import Decimal

import msgspec
import pytest

from gateway.banks.port.providers import Unavailable
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.user_errors import PASSWORD_WRONG, VALIDATION_FAILED
from gateway.http.rendering import (
    MEDIA_TYPE,
    dumps,
    message_of,
    pretty,
    render,
    render_refusal,
    translate,
    wrong,
)
from gateway.http.route import Answer
from gateway.http.table import Table
from tests.world.gateway.listener_client import CHALLENGE, route, surface
from tests.world.standing import NOON

PLACE = Table([surface(route())]).places()[0]


@pytest.mark.parametrize(
    ("shown", "body", "headers"),
    [
        ({"a": 1}, b'{"a":1}', {"Content-Type": MEDIA_TYPE, "X-A": "of the policy"}),
        (
            Answer(content={"a": 1}),
            b'{"a":1}',
            {"Content-Type": MEDIA_TYPE, "X-A": "of the policy"},
        ),
        (
            Answer(content=b"a", content_type="text/plain", headers={"X-A": "its own"}),
            b"a",
            {"Content-Type": "text/plain", "X-A": "its own"},
        ),
        (Answer(content=None), None, {"X-A": "of the policy"}),
    ],
    ids=["document", "answer", "bytes", "nothing"],
)
def test_an_answer_is_rendered_by_its_type(shown, body, headers):
    reply = render(shown, 201, {"X-A": "of the policy"})

    assert (reply.status, reply.body, reply.headers) == (201, body, headers)


def test_an_answer_can_have_its_own_status():
    """A waiting order is accepted, but not yet executed."""
    assert render(Answer(content={"a": 1}, status=202), 200, {}).status == 202


@pytest.mark.parametrize(
    ("error", "place", "headers"),
    [
        (errors.CREDENTIALS_MISSING, PLACE, {"WWW-Authenticate": CHALLENGE}),
        (errors.CREDENTIALS_MISSING, None, {}),
        (errors.BALANCE_UNAVAILABLE, PLACE, {"Retry-After": "2"}),
        (errors.SCOPE_DENIED, PLACE, {}),
    ],
    ids=["401", "401 of no route", "502", "403"],
)
def test_a_refusal_has_a_remedy(error, place, headers):
    reply = render_refusal(ServiceError(error, "why"), place, "t", {"X-A": "1"})

    assert reply.headers == {"Content-Type": MEDIA_TYPE, "X-A": "1", **headers}
    assert reply.status == error.status
    assert b'"trace_id":"t"' in reply.body


def test_headers_of_an_error_take_precedence():
    refusal = ServiceError(errors.BALANCE_UNAVAILABLE, "why", {"Retry-After": "9"})

    assert render_refusal(refusal, PLACE, "t", {}).headers["Retry-After"] == "9"


@pytest.mark.parametrize(
    ("line", "told"),
    [("", ""), ("ask for fewer days", " Ask for fewer days."), ("Not now.", " Not now.")],
)
def test_the_detail_of_an_error_is_appended_as_a_sentence(line: str, told: str):
    refusal = ServiceError(errors.SCOPE_DENIED, "why", detail=line)

    said = json.loads(render_refusal(refusal, PLACE, "t", {}).body)

    assert said["message"] == errors.SCOPE_DENIED.message + told


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (
            ServiceError(errors.PAYLOAD_INVALID, "evp_key_form", field="destination.key"),
            "destination.key must be a random PIX key: a UUID with hyphens.",
        ),
        (
            ServiceError(errors.PAYLOAD_INVALID, "media_type"),
            "Content-Type must be application/json, in UTF-8.",
        ),
        (
            ServiceError(errors.PIX_KEY_INCOMPLETE, "missing_for_pix", field="destination.key"),
            "destination.key is missing: method pix requires key_type and key.",
        ),
        (
            ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field="days", words=["a", "b", "c"]),
            "days must be a, b or c.",
        ),
        (
            ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field="days", words=["local"]),
            "days must be local.",
        ),
        (
            ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field="days", words="x" * 21),
            "days must be one of the documented words.",
        ),
        (ServiceError(errors.PAYLOAD_INVALID, "KeyError"), errors.PAYLOAD_INVALID.message),
        (ServiceError(errors.PAYOUT_NOT_ALLOWED, "similar"), errors.PAYOUT_NOT_ALLOWED.message),
    ],
    ids=[
        *("a field", "no field", "another code", "words", "one word", "many words"),
        *("an unknown word", "no input"),
    ],
)
def test_a_message_names_the_field_and_the_expected_form(refusal: ServiceError, told: str):
    """Other refusals for partners have the catalogue's text."""
    said = json.loads(render_refusal(refusal, PLACE, "t", {}).body)

    assert said == {"code": refusal.error.code, "message": told, "trace_id": "t"}


@pytest.mark.parametrize(
    ("error", "reason", "told"),
    [
        (VALIDATION_FAILED, "missing", {"field": "email", "reason": "missing"}),
        (VALIDATION_FAILED, "KeyError", {"field": "email", "reason": ""}),
        (PASSWORD_WRONG, "missing", {"field": "", "reason": ""}),
    ],
    ids=["a word", "no word of ours", "nobody known"],
)
def test_messages_for_people_have_field_and_reason(
    error: ErrorCode, reason: str, told: dict[str, str]
):
    """Both are always present; a 401 shows no more than its code."""
    refusal = ServiceError(error, reason, field="email")

    said = json.loads(render_refusal(refusal, PLACE, "t", {}, explains=True).body)

    assert {name: said[name] for name in ("field", "reason")} == told
    assert list(said) == ["code", "message", "trace_id", "field", "reason"]


def test_a_service_error_is_not_translated():
    refusal = ServiceError(errors.SCOPE_DENIED, "why")

    assert translate(refusal, PLACE) is refusal


@pytest.mark.parametrize(
    ("problem", "error", "reason"),
    [
        (KeyError("secret"), errors.BALANCE_UNAVAILABLE, "KeyError"),
        (Unavailable("timeout"), errors.INTERNAL, "Unavailable"),
        (RuntimeError("secret"), errors.INTERNAL, "RuntimeError"),
    ],
    ids=["declared", "a bank's, undeclared", "nobody's"],
)
def test_an_exception_is_translated_to_its_route_s_code(problem, error, reason):
    """An undeclared one is our own error: 500."""
    refusal = translate(problem, PLACE)

    assert (refusal.error, refusal.reason) == (error, reason)
    assert message_of(refusal) == error.message


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (
            ServiceError(errors.PAYLOAD_INVALID, "branch_form", field="destination.branch"),
            "{field} must have 1 to 4 digits.",
        ),
        (ServiceError(errors.PAYLOAD_INVALID, "of no list", field="x"), ""),
        (ServiceError(errors.PAYOUT_NOT_FOUND, "branch_form"), ""),
    ],
)
def test_only_errors_of_sent_fields_are_reported(refusal: ServiceError, told: str):
    """With a placeholder for the field's name, which a translation keeps."""
    assert wrong(refusal) == told


def test_pretty_json_keeps_exact_amounts():
    written = pretty({"value": Decimal("10.50"), "names": ["São"], "none": []})

    assert written.decode() == (
        '{\n  "value": 10.50,\n  "names": [\n    "São"\n  ],\n  "none": []\n}'
    )


class Line(msgspec.Struct):
    value: Sum
    ended_at: object = None
    further: object = msgspec.UNSET


def test_a_struct_is_written_as_json_by_its_fields():
    written = dumps({"lines": [Line(Sum(1050)), Line(Sum(0), NOON, frozenset({"b", "a"}))]})

    assert json.loads(written) == {
        "lines": [
            {"value": 10.5, "ended_at": ""},
            {"value": 0.0, "ended_at": f"{NOON:%Y-%m-%dT%H:%M:%SZ}", "further": ["a", "b"]},
        ]
    }
