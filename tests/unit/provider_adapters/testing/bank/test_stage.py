"""A simulated bank as a stage."""

import aiohttp
import pytest

from provider_adapters.testing.bank.control import client
from provider_adapters.testing.sandbox.stage import SandboxStage


async def test_a_stage_waits_for_its_own_bank_without_a_limit(monkeypatch: pytest.MonkeyPatch):
    """Both share a process: where a busy machine stops that for seconds, no call has failed."""
    monkeypatch.setattr(client, "_DEADLINE", aiohttp.ClientTimeout(total=1e-6))
    stage = SandboxStage()
    try:
        await stage.start()

        assert len(stage.accounts) == 2
    finally:
        await stage.close()
