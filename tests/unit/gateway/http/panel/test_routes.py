"""The panel's own rows."""

from __future__ import annotations

import pytest

from gateway.domain.identity.errors import CSRF_FAILED
from gateway.http.identity.callers import AnonymousCaller
from gateway.http.panel.routes import PanelSessionActions
from gateway.operations.identity.ports import ClientInfo
from policies.validation.identity import CodeBody, LoginBody
from tests.unit.refusals import refused
from tests.world.surfaces import surface_named

PANEL = surface_named("panel")
ROWS = {(row.method, row.path): row for gate in PANEL.gates for row in gate.rows}


@pytest.mark.parametrize("path", ["login", "mfa", "logout", "step-up"])
def test_signing_in_and_out_are_posts(path: str):
    assert ("POST", f"/auth/{path}") in ROWS


async def test_without_a_browser_nobody_signs_in():
    """A gate that forgot to look for the cookie is no way in."""
    acts, guest = (
        PanelSessionActions(records=None, views=None, services=None),
        AnonymousCaller(ClientInfo()),
    )  # type: ignore[arg-type]

    with refused(CSRF_FAILED):
        await acts.login(guest, LoginBody("a@b.c", "a"))
    with refused(CSRF_FAILED):
        await acts.submit_code(guest, CodeBody("123456"))
