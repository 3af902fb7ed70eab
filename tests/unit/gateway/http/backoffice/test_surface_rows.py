"""Every row of management."""

from __future__ import annotations

import importlib
import pkgutil
import typing
from typing import Any

import msgspec

from gateway.core.permissions import Action
from gateway.core.rights import Right
from gateway.http import backoffice
from gateway.http.backoffice.routing import Shape
from tests.unit.gateway.http.backoffice.surface import ROWS, gate_of

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


def test_every_row_of_management_is_behind_the_same_questions():
    for name in ("credentials", "user_roles", "audit", "stop_pull", "stop_lift", "webhooks"):
        assert gate_of(name) == [
            *("BearerToken", "WithinPersonQuota"),
            *(
                "RequiresRight",
                "RequiresSecondFactor",
                "DecidesCompanyScope",
                "FreshFactor",
                "Identifiers",
                "KnownParameters",
            ),
        ]


SHAPES = [
    each
    for module in pkgutil.walk_packages(backoffice.__path__, f"{backoffice.__name__}.")
    for each in vars(importlib.import_module(module.name)).values()
    if typing.is_typeddict(each) and each.__module__ == module.name and each is not Shape
]
OPTIONAL = {
    *("payer", "failure", "limit_per_payout", "limit_per_day", "evidence"),
    *("median_to_settle_s", "audit", "explained"),
    *("payout", "charge", "owner", "moved", "difference", "ordered", "bank_shows"),
    *("success", "p95_s", "balance", "blocked", "reading"),
    *("phase", "bytes_left", "reason", "http_status", "provider_code", "found", "asked_at"),
    *("provider_id", "e2e_id", "settled_at", "held_until", "callback", "by", "verdict", "review"),
}


def described(shape: type) -> dict[str, Any]:
    """Return the schema of a shape."""
    found: dict[str, Any] = msgspec.json.schema(shape)["$defs"][shape.__name__]
    return found


def test_every_field_of_a_document_has_a_schema_and_is_never_null():
    wrong = [
        shape.__name__
        for shape in SHAPES
        if set(found := described(shape)["properties"]) != set(shape.__annotations__)
        or "null" in str(found)
    ]

    assert wrong == []


def test_only_these_fields_may_be_absent():
    """An order has the fields of its kind alone."""
    absent = {
        shape.__name__: found
        for shape in SHAPES
        if shape.__name__ != "OrderDocument" and (found := optional(shape) - OPTIONAL)
    }

    assert absent == {}


def optional(shape: type) -> set[str]:
    """Name the fields of a shape that may be absent."""
    found = described(shape)
    return set(found["properties"]) - set(found["required"])
