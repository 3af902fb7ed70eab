"""The control interface: what it does not understand it refuses, in the bank's error shape."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/clock", {"offset_s": "1"}, 400),
        ("POST", "/clock", {}, 400),
        ("GET", "/calls?limit=x", None, 400),
        ("GET", "/nothing", None, 404),
        ("PUT", "/clock", {}, 405),
    ],
)
async def test_what_is_not_understood_is_refused(caller, method, path, body, *, status):
    answered, said = await caller.control(method, path, json=body)

    assert (answered, set(said)) == (status, {"error"})
