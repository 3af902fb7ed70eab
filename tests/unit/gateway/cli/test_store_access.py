"""One act of a command in the opened store."""

import pytest

from gateway.app.build_identity import IdentityRoom
from gateway.cli.console import Terminal
from gateway.cli.store_access import in_identity
from gateway.core.audit_context import RuleViolation
from tests.world.shell import CONFIG


def test_what_was_opened_is_closed_after_a_refusal(tmp_path, monkeypatch):
    monkeypatch.setenv("PIXGATE_VAR", str(tmp_path))
    seen: list[IdentityRoom] = []

    async def refused(identity: IdentityRoom) -> None:
        seen.append(identity)
        problem = "not so"
        raise RuleViolation(problem)

    with pytest.raises(RuleViolation, match="not so"):
        in_identity(Terminal(config=CONFIG, as_json=False), refused)

    assert seen[0].hasher._pool._shutdown
