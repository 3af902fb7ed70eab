"""Every route of management."""

from __future__ import annotations

from gateway.core.permissions import Action
from gateway.core.rights import Right
from tests.unit.gateway.http.surface import ROUTES

READING = ("GET", "HEAD")
OF_THE_ORDERER = "backoffice.approval_withdraw"
"""Whoever ordered it, and nobody else."""


def test_a_route_that_changes_something_requires_more_than_read():
    for route in ROUTES.values():
        searches = route.path.endswith(("/search", "/lookup", "/export"))
        if route.name == OF_THE_ORDERER or searches:
            continue
        if isinstance(route.needs, Right) and route.method not in READING:
            assert route.needs.action > Action.READ, route.name


def test_a_get_route_requires_only_read():
    for route in ROUTES.values():
        if isinstance(route.needs, Right) and route.method in READING:
            assert route.needs.action is Action.READ, route.name
