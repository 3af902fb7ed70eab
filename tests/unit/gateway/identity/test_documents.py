"""Bodies and documents of identity."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from gateway.core.browsers import ClientInfo
from gateway.core.calls import RawRequest
from gateway.core.rights import Role
from gateway.core.sessions import Session, public_id
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from gateway.http.gates import AnonymousCaller, SignedInCaller
from gateway.identity import documents as represent
from gateway.identity.documents import SignedInDocument, TokensDocument
from gateway.identity.second_factors import Enrolment
from gateway.identity.sign_in import SecondFactorRequired
from tests.unit.refusals import refused
from tests.world.people import posted, somebody
from tests.world.standing import NOON

MARIA = somebody(Role.VIEWER, Role.ADMIN)
MEMBER = SignedInCaller(person=MARIA, client=ClientInfo(), logout_headers={"Set-Cookie": "gone"})


def test_a_user_document_lists_roles_in_order():
    assert represent.user(MARIA) == {
        "id": MARIA.user_id,
        "name": "Maria",
        "email": "maria@example.com",
        "roles": ["admin", "viewer"],
    }


def test_sessions_are_shown_by_a_public_id():
    """It is no token, and does not reveal the session's internal id."""
    session = Session(
        id=MARIA.session_id,
        user_id=MARIA.user_id,
        created_at=NOON,
        ends_at=NOON + timedelta(hours=8),
        seen_at=NOON,
        address="203.0.113.7",
        user_agent="curl",
        panel=True,
    )

    shown = represent.own_sessions([session], MEMBER)

    assert shown == {
        "data": [
            {
                "id": public_id(MARIA.session_id),
                "current": True,
                "panel": True,
                "created_at": "2026-11-20T12:00:00Z",
                "seen_at": "2026-11-20T12:00:00Z",
                "expires_at": 1795176000 + 8 * 3600,
                "address": "203.0.113.7",
                "user_agent": "curl",
            }
        ],
        "meta": {"total": 1},
    }
    assert MARIA.session_id not in str(shown)


def test_the_qr_code_is_an_svg_of_paths_alone():
    """It is embedded in a page of ours: without script and reference."""
    begun = Enrolment("ABC", "otpauth://totp/a?secret=ABC&issuer=<b>")

    shown = represent.enrolment(begun, MEMBER)

    drawn = ET.fromstring(shown["qr_svg"])  # noqa: S314 - made by ourselves a line above
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert {each.tag.rpartition("}")[2] for each in drawn.iter()} == {"svg", "path"}
    assert (shown["secret"], shown["otpauth_uri"]) == (begun.secret, begun.uri)


def test_without_the_qr_code_library_enrolment_continues_without_an_image(
    monkeypatch: pytest.MonkeyPatch,
):
    """It is an optional dependency: the secret's address is enough."""
    monkeypatch.setitem(sys.modules, "segno", None)
    begun = Enrolment("ABC", "otpauth://totp/a?secret=ABC")

    shown = represent.enrolment(begun, MEMBER)

    assert shown == {"secret": begun.secret, "otpauth_uri": begun.uri, "qr_svg": ""}


def test_ending_a_session_deletes_the_cookie():
    assert represent.ended(None, MEMBER).headers == {"Set-Cookie": "gone"}
    assert represent.recovery_codes_and_logout(["a"], MEMBER).headers == {"Set-Cookie": "gone"}
    assert represent.done(None, MEMBER).headers == {}


GUEST = AnonymousCaller(ClientInfo())


def test_a_second_factor_challenge_names_no_user():
    """Contract 2.9: no name, e-mail or roles, and no remaining time."""
    shown = represent.login(SecondFactorRequired("m", NOON), GUEST)

    assert shown == {"mfa_required": True, "mfa_token": "m"}


def described(shape: type) -> dict[str, Any]:
    """Return the schema of a shape."""
    found: dict[str, Any] = msgspec.json.schema(shape)["$defs"][shape.__name__]
    return found


def test_a_refresh_returns_the_same_tokens_as_a_sign_in():
    tokens, signed_in = described(TokensDocument), described(SignedInDocument)

    assert set(tokens["required"]) == set(signed_in["required"]) - {"user", "mfa_required"}


INPUTS = [
    each
    for name, each in vars(represent).items()
    if name.isupper() and getattr(each, "body", None) is not None
]


def filled(body: type) -> dict[str, object]:
    """Return a body with every field."""
    return dict.fromkeys(body.__struct_fields__, "abc")  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", [None, "", 1, 1.5, True, [], {}, "x" * 1025], ids=repr)
@pytest.mark.parametrize("taken", INPUTS, ids=lambda each: each.body.__name__)
def test_every_required_field_must_be_a_text_that_is_not_empty(taken, wrong: object):
    """An optional one may also be null or empty."""
    for field in msgspec.structs.fields(taken.body):
        body, absent = filled(taken.body), [None, ""]
        without = {name: text for name, text in body.items() if name != field.name}
        sent = [without | {field.name: wrong}, *([without] if field.required else [])]
        for bad in sent if field.required or wrong not in absent else []:
            with refused(VALIDATION_FAILED):
                taken.read(posted(bad))


def test_a_password_change_may_omit_the_code():
    found = represent.CHANGE.read(posted({"current_password": "a", "new_password": "b"}))

    assert found.code == ""


def test_an_e_mail_address_is_normalised_and_a_password_is_not():
    """Not even a space is removed from a password."""
    found = represent.LOGIN.read(posted({"email": " Maria@Example.COM ", "password": " A b "}))

    assert (found.email, found.password) == ("maria@example.com", " A b ")


@pytest.mark.parametrize("email", ["a\x00@b.c", "a\n@b.c", "\x7f", "   ", "\t"])
def test_an_e_mail_address_without_content_or_with_control_characters_is_refused(email: str):
    with refused(VALIDATION_FAILED):
        represent.FORGOT.read(posted({"email": email}))


@pytest.mark.parametrize(
    ("step", "found"), [("0F1E2D3C4B5A", "0f1e2d3c4b5a"), ("x", "x"), ("é", "é")]
)
def test_a_session_is_addressed_by_its_public_id(step: str, found: str):
    assert represent.SESSION_ID.read(RawRequest(path={"session_id": step})) == {"session_id": found}


@pytest.mark.parametrize("step", ["\x00", "\udcff", "a" * 1025])
def test_a_malformed_session_id_is_not_found(step: str):
    with refused(NOT_FOUND):
        represent.SESSION_ID.read(RawRequest(path={"session_id": step}))
