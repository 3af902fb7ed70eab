"""Cases about callbacks, and what they leave alone."""

from __future__ import annotations

import logging

import pytest

from provider_adapters.registry import find
from provider_adapters.testing.stages import SandboxStage
from provider_adapters.testing.verify.trial import Subject
from tests.world.verified import PASSED, ended

SUBJECT = Subject(name="sandbox", factory=find("sandbox"), make_stage=SandboxStage)


async def test_nobody_else_gets_the_transcripts_that_a_case_listens_to(
    caplog: pytest.LogCaptureFixture,
):
    """Other cases run meanwhile, and the program that runs the suite has a log of its own."""
    caplog.set_level(logging.INFO)
    caplog.handler.setLevel(logging.NOTSET)

    assert await ended(SUBJECT, "callbacks.nothing_told") == PASSED

    assert [each for each in caplog.records if each.levelno < logging.INFO] == []
    assert not logging.getLogger("pixgate.provider.transcript").isEnabledFor(logging.DEBUG)
