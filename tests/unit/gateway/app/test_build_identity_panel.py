"""The panel's sessions assembled."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from gateway.app.assembly import assemble
from gateway.config.identity import Session
from gateway.config.settings import Settings


def test_session_settings_reach_the_panel(tmp_path):
    settings = msgspec.structs.replace(
        Settings(var=str(tmp_path)), session=Session(idle_s=60, renew_s=120)
    )

    panel = assemble(settings, {}, with_bank=False).services.panel

    rules = panel.sessions.settings
    assert (rules.idle, rules.renewal) == (timedelta(seconds=60), timedelta(seconds=120))


def test_cookies_of_one_process_are_read_by_another(tmp_path):
    """The key is derived from their common keys."""
    nodes = [assemble(Settings(var=str(tmp_path)), {}, with_bank=False) for _ in range(2)]
    stranger = assemble(Settings(var=str(tmp_path / "elsewhere")), {}, with_bank=False)
    panels = [each.services.panel for each in (*nodes, stranger)]
    here, there, other = (each.sessions.cookies for each in panels)
    cookie = here.make()

    sealed = here.seal("tokens", cookie)

    assert there.open(sealed, cookie) == "tokens"
    assert other.open(sealed, cookie) is None
