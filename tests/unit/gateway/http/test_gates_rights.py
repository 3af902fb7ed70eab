"""Every row of management."""

from __future__ import annotations

from gateway.core.permissions import Action
from gateway.core.rights import Right
from tests.unit.gateway.http.surface import ROWS

READING = ("GET", "HEAD")
OF_THE_ORDERER = "backoffice.approval_withdraw"
"""Whoever ordered it, and nobody else."""


def test_a_row_that_changes_something_needs_more_than_reading():
    for row in ROWS.values():
        searches = row.path.endswith(("/search", "/lookup", "/export"))
        if row.name == OF_THE_ORDERER or searches:
            continue
        if isinstance(row.needs, Right) and row.method not in READING:
            assert row.needs.action > Action.READ, row.name


def test_a_row_that_reads_needs_no_more_than_reading():
    for row in ROWS.values():
        if isinstance(row.needs, Right) and row.method in READING:
            assert row.needs.action is Action.READ, row.name
