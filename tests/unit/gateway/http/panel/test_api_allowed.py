"""What the panel may call."""

from __future__ import annotations

import pytest

from gateway.app.rooms import described_surfaces
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Environment
from gateway.http.panel.api import allowed_in
from gateway.http.table import RoutedRow, Table

OPEN = {"backoffice.info", "backoffice.health", "backoffice.error_codes"}


TABLES = {each: Table(described_surfaces(Settings(environment=each))) for each in Environment}


def places(surface: str, environment: Environment = Environment.SANDBOX) -> dict[str, RoutedRow]:
    """Return the rows of a surface by name."""
    found = TABLES[environment].places()
    return {each.row.name: each for each in found if each.surface.name == surface}


OFFICE, PANEL = places("backoffice"), places("panel_api")


@pytest.mark.parametrize("environment", Environment)
def test_every_row_of_people_at_work_is_named(environment: Environment):
    """One that is left out is left out here, in words."""
    assert places("backoffice", environment).keys() - OPEN == allowed_in(environment)


@pytest.mark.parametrize("environment", Environment)
def test_what_is_named_is_served_and_nothing_else(environment: Environment):
    assert places("panel_api", environment).keys() == allowed_in(environment)


def test_it_is_the_same_row_under_another_prefix():
    for name, place in PANEL.items():
        own = OFFICE[name]

        assert place.row is own.row, name
        assert place.template == own.template.replace("/backoffice/v1", "/panel/api", 1)


def test_what_is_asked_behind_who_is_calling_is_asked_here_too():
    """Rights, freshness, identifiers, visibility: the very same policies."""
    for name, place in PANEL.items():
        own = OFFICE[name].gate.policies[1:]

        assert tuple(place.gate.policies[-len(own) :]) == tuple(own), name
