"""What comes out of signing in."""

from gateway.operations.identity.answers import Enrolment, FactorAsked, TokenPair
from tests.unit.standing import NOON


def test_no_token_or_secret_shows_in_a_log():
    pair = TokenPair(
        session_id="s",
        access_token="hidden",
        expires_at=NOON,
        refresh_token="hidden",
        refresh_expires_at=NOON,
    )

    assert "hidden" not in repr([pair, FactorAsked("hidden", NOON), Enrolment("hidden", "hidden")])
