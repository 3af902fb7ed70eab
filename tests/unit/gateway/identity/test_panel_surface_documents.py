"""The shape of the panel's session."""

import msgspec

from gateway.identity.panel_surface import SessionDocument

DESCRIBED = msgspec.json.schema(SessionDocument)["$defs"]["SessionDocument"]


def test_before_a_sign_in_four_fields_are_required():
    assert set(DESCRIBED["required"]) == {
        *("authenticated", "mfa_required", "csrf_token", "environment"),
    }


def test_the_session_document_has_only_the_csrf_token():
    """The token against request forgery, which opens nothing."""
    assert [name for name in DESCRIBED["properties"] if "token" in name] == ["csrf_token"]
