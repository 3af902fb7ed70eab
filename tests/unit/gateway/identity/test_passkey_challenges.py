"""Challenges of passkeys."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.identity.passkey_challenges import PasskeyChallenges
from tests.world.standing import NOON

OURS = PasskeyChallenges(b"k" * 32)
END = NOON + timedelta(minutes=5)


def test_a_challenge_is_recognized_with_its_end():
    made = OURS.make("proof", "session", END)

    assert OURS.end_of(made, "proof", "session") == END
    assert made != OURS.make("proof", "session", END)


@pytest.mark.parametrize(
    ("purpose", "bound_to"), [("sign_in", "session"), ("proof", "other"), ("proofsession", "")]
)
def test_a_challenge_holds_for_its_purpose_and_session_alone(purpose: str, bound_to: str):
    made = OURS.make("proof", "session", END)

    assert OURS.end_of(made, purpose, bound_to) is None


def test_a_changed_challenge_is_none_of_ours():
    made = OURS.make("proof", "session", END)
    wrong = [made[:at] + bytes([made[at] ^ 1]) + made[at + 1 :] for at in range(len(made))]
    wrong += [b"", made[:-1], made + b"x", b"x" + made]

    assert [each for each in wrong if OURS.end_of(each, "proof", "session")] == []
    assert PasskeyChallenges(b"x" * 32).end_of(made, "proof", "session") is None


def test_the_key_shows_in_no_log():
    assert "kkk" not in repr(OURS)
