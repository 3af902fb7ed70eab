"""A browser as it comes in."""

from gateway.core.browsers import (
    Browser,
    Cookie,
    PanelSession,
    PanelState,
    SignedInBrowser,
)
from tests.world.people import somebody
from tests.world.standing import NOON


def test_session_secrets_are_not_printed():
    """A cookie in a traceback could be used to sign in."""
    cookie = Cookie(id_hash="abc", secret=b"the secret half", value="both halves")
    panel = PanelSession(
        id_hash="abc",
        state=PanelState.FULL,
        csrf="the token",
        created_at=NOON,
        seen_at=NOON,
        ends_at=NOON,
        sealed=b"sealed tokens",
    )

    shown = repr(SignedInBrowser(Browser(cookie, panel), somebody()))

    assert "abc" in shown
    for secret in ("secret half", "both halves", "the token", "sealed tokens"):
        assert secret not in shown
