"""The rows of traces and explanations."""

from __future__ import annotations

import json

import pytest

from gateway.core.user_errors import VALIDATION_FAILED
from tests.unit.gateway.http.backoffice.registers import taken
from tests.unit.gateway.http.backoffice.surface import line
from tests.unit.refusals import refusal_of

BODY = {"client_id": "cli_a", "method": "GET", "path": "/baas/v1/info"}


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [
        ("trace", "GET", "/traces/{trace_id}"),
        ("trace_explanation", "GET", "/traces/{trace_id}/explanation"),
        ("explain", "POST", "/explain"),
    ],
)
def test_the_rows_are_those_decided(name: str, method: str, path: str):
    """Asking what would happen changes nothing, so that reading is enough."""
    assert line(name) == (method, path, "request_log:read", 200)


@pytest.mark.parametrize(
    "changed",
    [
        {"authorization": "my secret"},
        {"body": {}},
        {"body_bytes": -1},
        {"path": "/iam/v1/info"},
        {"client_id": ""},
    ],
)
def test_a_question_of_another_form_is_refused(changed: dict[str, object]):
    sent = {"body": json.dumps({**BODY, **changed}).encode(), "content_type": "application/json"}

    assert refusal_of(lambda: taken("explain", **sent)) is VALIDATION_FAILED


def test_a_question_is_mostly_about_a_right_secret():
    sent = {"body": json.dumps(BODY).encode(), "content_type": "application/json"}

    assert taken("explain", **sent)["question"].authorization == "right_secret"
