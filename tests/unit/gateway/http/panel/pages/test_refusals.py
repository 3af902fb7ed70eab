"""Messages about refusals for people, and the mark on the invalid field."""

from __future__ import annotations

import pytest

from gateway.core.calls import Call, RawRequest
from gateway.core.errors import FIELD_MISSING, ServiceError
from gateway.core.user_errors import SESSION_REQUIRED, VALIDATION_FAILED
from gateway.http.panel.pages.refusals import mark, means, why, wrong
from gateway.http.panel.pages.visit import Visit, admit_visitor
from policies.validation.forms import Form

EMPTY = "{field} is missing."
NOBODY = "The call carries no identification."


def test_an_empty_form_field_is_explained_without_json_terms():
    assert wrong(ServiceError(VALIDATION_FAILED, "missing", field="reason")) == EMPTY
    assert wrong(ServiceError(VALIDATION_FAILED, "not_the_name", field="words")) != EMPTY


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (FIELD_MISSING.code, EMPTY),
        (VALIDATION_FAILED.code, EMPTY),
        (SESSION_REQUIRED.code, NOBODY),
        ("TOKEN_INVALID", NOBODY),
        ("SVC.AUT.001", NOBODY),
        ("", EMPTY),
    ],
)
def test_missing_is_explained_by_its_error_code(code: str, words: str):
    assert means("missing", code) == words


def test_another_reason_is_explained_in_the_api_s_words():
    assert means("expired", SESSION_REQUIRED.code) == "It has expired."
    assert means("no such word") == ""


SAYS = '<div id="problem"></div>'


def visiting(field: str, **typed: str) -> Visit:
    """Return the visit of a form at ``/panel/a`` that was refused for a field."""
    asked = RawRequest(path={}, address="127.0.0.1")
    visit = admit_visitor(Call(asked=asked, needs=None, quota=""))
    visit.address = "/panel/a?x=1"
    visit.form = Form({name: (value,) for name, value in typed.items()})
    visit.problem = ServiceError(VALIDATION_FAILED, "missing", field=field)
    return visit


def form(inside: str, action: str = "/panel/a") -> str:
    return f'<form method="post" action="{action}">{inside}</form>'


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("value", "value"),
        ("destination.key", "key"),
        ("payer.name", "payer_name"),
        ("credentials.token", "credentials"),
        ("expires_in", "hours"),
    ],
)
def test_a_wrong_field_is_found_by_its_api_name(field: str, name: str):
    page = SAYS + form(f'<input name="{name}"><input name="other">')

    marked = mark(page.encode(), visiting(field)).decode()

    assert f'<input name="{name}" aria-describedby="problem" aria-invalid="true">' in marked
    assert '<input name="other">' in marked


def test_existing_descriptions_of_a_field_are_kept():
    page = SAYS + form('<textarea name="a" aria-describedby="why"></textarea>')

    marked = mark(page.encode(), visiting("a")).decode()

    assert '<textarea name="a" aria-describedby="problem why" aria-invalid="true">' in marked


def test_a_page_without_the_message_is_not_linked_to_it():
    marked = mark(form('<input name="a">').encode(), visiting("a")).decode()

    assert '<input name="a" aria-invalid="true">' in marked


@pytest.mark.parametrize(
    "page",
    [
        form('<input name="a">', "/panel/b"),
        form('<input type="hidden" name="step" value="look"><input name="a">'),
        form('<input type="hidden" name="a" value="x">'),
        form('<input name="b">'),
    ],
    ids=["elsewhere", "another form of the address", "hidden", "no such field"],
)
def test_other_forms_are_not_marked(page: str):
    written = (SAYS + page).encode()

    assert mark(written, visiting("a", step="send", a="x")) == written


def test_a_radio_button_is_described_and_not_invalid():
    page = SAYS + form('<input type="radio" name="a" value="1">')

    marked = mark(page.encode(), visiting("a")).decode()

    assert 'aria-describedby="problem"' in marked
    assert "aria-invalid" not in marked


def test_operators_see_reasons_that_callers_do_not():
    assert (means("password"), why("password")) == ("", "The password was wrong.")
    assert why("expired", SESSION_REQUIRED.code) == means("expired", SESSION_REQUIRED.code)
    assert why("wire").startswith("The request was refused")
    assert why("no such word") == ""
