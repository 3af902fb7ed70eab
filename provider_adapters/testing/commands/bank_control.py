"""The control interface of the sandbox bank, for commands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.bank.control.client import BankControl, ControlRefused


@asynccontextmanager
async def controlling(url: str) -> AsyncIterator[BankControl]:
    """
    Open the control interface.

    Raises:
        RuleViolation: for whatever the bank refuses inside, or when it does not run.
    """
    try:
        async with BankControl(url) as control:
            yield control
    except ControlRefused as problem:
        raise RuleViolation(str(problem)) from problem
