"""Faults are injected, listed and cleared over the control interface."""

from __future__ import annotations

import pytest


async def test_a_fault_is_shown_with_its_defaults(caller):
    """The names of the body are those of the README."""
    status, said = await caller.control("POST", "/faults", json={"fault": "hang"})

    _, listed = await caller.control("GET", "/faults")

    assert (status, said) == (
        201,
        {"operation": "*", "fault": "hang", "status": 500, "count": 1, "executed": False},
    )
    assert listed == {"data": [said], "meta": {"total": 1}}


async def test_null_is_until_cleared_and_absent_is_once(caller):
    await caller.control("POST", "/faults", json={"fault": "reject", "count": None})
    await caller.control("POST", "/faults", json={"fault": "refuse", "count": None})

    _, listed = await caller.control("GET", "/faults")
    _, cleared = await caller.control("DELETE", "/faults")

    assert [fault["count"] for fault in listed["data"]] == [None, None]
    assert cleared == {"cleared": 2}
    assert (await caller.ask("GET", "/saldo"))[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"fault": "explode"},
        {"fault": "hang", "operation": "info"},
        {"fault": "hang", "count": "1"},
        {"fault": "status", "status": "500"},
        {"fault": "status", "executed": "yes"},
    ],
    ids=str,
)
async def test_a_fault_not_understood_is_refused(caller, body):
    status, said = await caller.control("POST", "/faults", json=body)

    assert (status, said["error"]["code"]) == (400, "INVALID_REQUEST")
