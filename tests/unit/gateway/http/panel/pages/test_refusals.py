"""What people are told of refusals, where programs are told it in other words."""

import pytest

from gateway.domain.identity.errors import SESSION_REQUIRED, VALIDATION_FAILED
from gateway.domain.kernel.errors import FIELD_MISSING, ServiceError
from gateway.http.panel.pages.refusals import means, wrong

EMPTY = "{field} is missing."
NOBODY = "Nothing that was sent says who asks."


def test_an_empty_field_of_a_form_is_not_explained_by_json():
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
def test_what_is_missing_is_a_field_or_who_asks(code: str, words: str):
    assert means("missing", code) == words


def test_any_other_word_means_what_programs_are_told():
    assert means("expired", SESSION_REQUIRED.code) == "It has expired."
    assert means("no such word") == ""
