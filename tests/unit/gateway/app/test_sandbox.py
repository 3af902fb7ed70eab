"""The package of simulated banks, found by an entry point."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from gateway.app import sandbox
from gateway.core.audit_context import RuleViolation


@pytest.mark.parametrize(("owners", "found"), [([], "none; install"), (["one", "two"], "one, two")])
def test_exactly_one_package_must_provide_the_sandbox_bank(
    monkeypatch: pytest.MonkeyPatch, owners: list[str], found: str
):
    """One line at startup, for every sandbox: its tools need the package as well."""
    points = [EntryPoint(name="sandbox", value=each, group=sandbox.GROUP) for each in owners]
    monkeypatch.setattr(sandbox, "entry_points", lambda **_: points)

    with pytest.raises(RuleViolation, match=f"and found {found}"):
        sandbox.simulator()
