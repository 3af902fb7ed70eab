"""What identity takes."""

from __future__ import annotations

import pytest

from gateway.core.calls import RawRequest
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from gateway.identity import bodies as identity
from tests.unit.refusals import refused
from tests.world.people import posted

INPUTS = [
    each
    for name, each in vars(identity).items()
    if name.isupper() and getattr(each, "body", None) is not None
]


def filled(body: type) -> dict[str, object]:
    """Return a body with every field."""
    return dict.fromkeys(body.__struct_fields__, "abc")  # type: ignore[attr-defined]


@pytest.mark.parametrize("taken", INPUTS, ids=lambda each: each.body.__name__)
def test_a_body_is_read_field_by_field(taken):
    asked = posted(filled(taken.body) | {"role": "admin", "is_admin": True})

    found = taken.read(asked)

    assert found == taken.body(**filled(taken.body))
    assert asked.unknown_fields == 2


@pytest.mark.parametrize("wrong", [None, "", 1, 1.5, True, [], {}, "x" * 1025], ids=repr)
@pytest.mark.parametrize("taken", INPUTS, ids=lambda each: each.body.__name__)
def test_every_field_is_a_text_of_some_length(taken, wrong: object):
    for name in taken.body.__struct_fields__:
        body = filled(taken.body)
        for bad in (body | {name: wrong}, {k: v for k, v in body.items() if k != name}):
            with refused(VALIDATION_FAILED):
                taken.read(posted(bad))


@pytest.mark.parametrize("media", [None, "text/plain", "application/json; charset=latin-1"])
def test_json_alone_is_read(media: str | None):
    asked = posted({"email": "a@b.c", "password": "a"}, content_type=media)

    with refused(VALIDATION_FAILED) as refusal:
        identity.LOGIN.read(asked)

    assert refusal.value.reason == "media_type"


def test_an_address_is_the_same_in_any_case():
    """A password is not: not even a space is taken from it."""
    found = identity.LOGIN.read(posted({"email": " Maria@Example.COM ", "password": " A b "}))

    assert (found.email, found.password) == ("maria@example.com", " A b ")


@pytest.mark.parametrize("email", ["a\x00@b.c", "a\n@b.c", "\x7f", "   ", "\t"])
def test_an_address_is_some_text_without_control_characters(email: str):
    with refused(VALIDATION_FAILED):
        identity.FORGOT.read(posted({"email": email}))


@pytest.mark.parametrize(
    ("step", "found"), [("0F1E2D3C4B5A", "0f1e2d3c4b5a"), ("x", "x"), ("é", "é")]
)
def test_a_session_is_named_as_lists_name_it(step: str, found: str):
    assert identity.SESSION_ID.read(RawRequest(path={"session_id": step})) == {"session_id": found}


@pytest.mark.parametrize("step", ["\x00", "\udcff", "a" * 1025])
def test_another_form_of_name_is_nobody_s(step: str):
    with refused(NOT_FOUND):
        identity.SESSION_ID.read(RawRequest(path={"session_id": step}))
