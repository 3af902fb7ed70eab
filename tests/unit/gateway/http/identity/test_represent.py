"""What identity answers."""

from __future__ import annotations

from datetime import timedelta

from gateway.http.identity import represent
from gateway.http.people.callers import Guest
from gateway.operations.identity.ports import Visitor
from gateway.operations.identity.sign_in import FactorAsked
from gateway.operations.identity.tokens import SignedIn, TokenPair
from tests.unit.people import somebody
from tests.unit.standing import NOON

GUEST = Guest(Visitor())
PAIR = TokenPair(
    session_id="s",
    access_token="a.b.c",
    expires_at=NOON,
    refresh_token="r",
    refresh_expires_at=NOON + timedelta(hours=8),
)


def test_a_challenge_names_nobody():
    """Contract 2.9: no name, no e-mail, no roles, and no hint of how long."""
    shown = represent.login(FactorAsked("m", NOON), GUEST)

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
