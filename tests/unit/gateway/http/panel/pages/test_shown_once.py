"""A new secret leaves its page after five minutes."""

from gateway.http.panel.pages.shown_once import shown_once
from tests.world.standing import NOON


def test_a_shown_secret_has_a_time_limit_of_five_minutes():
    page = shown_once({"client_id": "cli_1"}, NOON)

    assert page.data["made"] == {"client_id": "cli_1"}
    assert page.data["until"] == (NOON.timestamp() + 300) * 1000
