"""Identity's documents."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from datetime import timedelta

import pytest

from gateway.core.browsers import ClientInfo
from gateway.core.rights import Role
from gateway.core.sessions import Session, public_id
from gateway.http.gates import AnonymousCaller, SignedInCaller
from gateway.identity import representation as represent
from gateway.identity.second_factors import Enrolment
from gateway.identity.sign_in import SecondFactorRequired
from gateway.identity.token_refresh import SignedIn, TokenPair
from tests.world.people import somebody
from tests.world.standing import NOON

MARIA = somebody(Role.VIEWER, Role.ADMIN)
MEMBER = SignedInCaller(person=MARIA, client=ClientInfo(), logout_headers={"Set-Cookie": "gone"})


def test_an_instant_is_whole_seconds_since_1970():
    assert represent.epoch(NOON + timedelta(milliseconds=999)) == 1795176000


def test_a_person_is_shown_with_their_roles_in_order():
    assert represent.user(MARIA) == {
        "id": MARIA.user_id,
        "name": "Maria",
        "email": "maria@example.com",
        "roles": ["admin", "viewer"],
    }


def test_sessions_are_shown_by_a_public_id():
    """Which is no token's, and tells nothing of the session's own id."""
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


def test_a_qr_code_is_an_image_and_nothing_else():
    """It stands in a page of ours: no script, no reference."""
    begun = Enrolment("ABC", "otpauth://totp/a?secret=ABC&issuer=<b>")

    shown = represent.enrolment(begun, MEMBER)

    drawn = ET.fromstring(shown["qr_svg"])  # noqa: S314 - made by ourselves a line above
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert {each.tag.rpartition("}")[2] for each in drawn.iter()} == {"svg", "path"}
    assert (shown["secret"], shown["otpauth_uri"]) == (begun.secret, begun.uri)


def test_without_what_draws_it_a_qr_code_is_empty_and_enrolling_goes_on(
    monkeypatch: pytest.MonkeyPatch,
):
    """An extra of the panel: the address of the secret is enough."""
    monkeypatch.setitem(sys.modules, "segno", None)
    begun = Enrolment("ABC", "otpauth://totp/a?secret=ABC")

    shown = represent.enrolment(begun, MEMBER)

    assert shown == {"secret": begun.secret, "otpauth_uri": begun.uri, "qr_svg": ""}


def test_the_end_of_a_session_goes_with_its_farewell():
    assert represent.ended(None, MEMBER).headers == {"Set-Cookie": "gone"}
    assert represent.recovery_codes_and_logout(["a"], MEMBER).headers == {"Set-Cookie": "gone"}
    assert represent.done(None, MEMBER).headers == {}


def test_codes_are_shown_as_they_were_made():
    assert represent.recovery_codes(("a", "b"), MEMBER) == {"recovery_codes": ["a", "b"]}
    assert represent.fresh(NOON, MEMBER) == {"expires_at": 1795176000}


GUEST = AnonymousCaller(ClientInfo())
PAIR = TokenPair(
    session_id="s",
    access_token="a.b.c",
    expires_at=NOON,
    refresh_token="r",
    refresh_expires_at=NOON + timedelta(hours=8),
)


def test_a_challenge_names_nobody():
    """Contract 2.9: no name, no e-mail, no roles, and no hint of how long."""
    shown = represent.login(SecondFactorRequired("m", NOON), GUEST)

    assert shown == {"mfa_required": True, "mfa_token": "m"}


def test_a_sign_in_is_tokens_and_a_person():
    shown = represent.login(SignedIn(PAIR, somebody()), GUEST)

    assert shown == {
        "access_token": "a.b.c",
        "refresh_token": "r",
        "token_type": "Bearer",
        "expires_at": 1795176000,
        "refresh_expires_at": 1795176000 + 8 * 3600,
        "user": {
            "id": somebody().user_id,
            "name": "Maria",
            "email": "maria@example.com",
            "roles": ["admin"],
        },
        "mfa_required": False,
    }


def test_keys_may_be_kept_for_five_minutes():
    shown = represent.keys({"keys": []}, None)

    assert shown.headers == {"Cache-Control": "public, max-age=300"}
    assert shown.content == {"keys": []}
