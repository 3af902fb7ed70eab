"""The sandbox bank as commands ask it."""

import pytest

from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.commands.bank_control import controlling


@pytest.mark.parametrize("asked", [("accounts", "nobody"), ("nothing",)])
async def test_a_refusal_is_told_to_the_operator(bank, asked):
    with pytest.raises(RuleViolation, match="404"):
        async with controlling(f"http://127.0.0.1:{bank.control_port}") as control:
            await control.get(*asked)
