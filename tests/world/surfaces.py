"""The surfaces as they are described, built once for a process: twenty modules ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Sandbox, Settings
from gateway.http.route import Surface


@cache
def usual_surfaces() -> Sequence[Surface]:
    """Return the surfaces of an open sandbox; not to be modified."""
    return described_surfaces(Settings(sandbox=Sandbox(open=True)))


def surface_named(name: str) -> Surface:
    return next(each for each in usual_surfaces() if each.name == name)
