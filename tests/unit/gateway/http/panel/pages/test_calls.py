"""Rows that pages call in process: what is asked of whoever looks."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.http import panel
from gateway.http.panel.pages.calls import _left
from policies.authorization.user import (
    DecidesCompanyScope,
    FreshFactor,
    RequiresRight,
    RequiresSecondFactor,
    VisibleAccount,
)
from tests.world.people import account
from tests.world.surfaces import surface_named

PANEL = Path(panel.__file__).parent
NAMED = re.compile(r'"((?:backoffice|panel)\.[a-z_]+)"')
RIGHTS = {RequiresRight, RequiresSecondFactor, DecidesCompanyScope, FreshFactor}


def test_a_row_asks_for_right_factor_and_scope_whichever_page_calls_it():
    """The page's own gate knows nothing of what the row needs."""
    gates = [gate for gate in surface_named("backoffice").gates if gate.scheme == "bearer"]

    for gate in gates:
        left = {type(each) for each in _left(gate.policies, None)}

        assert left >= RIGHTS, gate.rows[0].name


def test_an_account_is_looked_for_once_a_page_and_never_left_out():
    gates = surface_named("backoffice").gates
    at_accounts = [
        gate.policies
        for gate in gates
        if any(isinstance(each, VisibleAccount) for each in gate.policies)
    ]

    for policies in at_accounts:
        first, then = _left(policies, None), _left(policies, account())

        assert any(isinstance(each, VisibleAccount) for each in first)
        assert [each for each in first if not isinstance(each, VisibleAccount)] == then
    assert at_accounts


def test_every_row_that_a_page_names_is_there():
    """Else the page fails when it is opened, not before."""
    served = {
        row.name
        for name in ("backoffice", "panel")
        for gate in surface_named(name).gates
        for row in gate.rows
    }
    files = [each for part in ("pages", "screens") for each in (PANEL / part).rglob("*.py")]
    files += PANEL.parent.parent.glob("*/pages.py")
    named = {name for each in files for name in NAMED.findall(each.read_text())}

    assert named
    assert sorted(named - served) == []
