"""A stage that shows no execution."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.core.money import Money
from provider_adapters.testing.stages import SandboxStage


class ForgetfulStage(SandboxStage):
    async def executions(self, provider_key: str) -> Sequence[Money]:
        return []
