"""Remedies by the reason of a refusal."""

from __future__ import annotations

import string

import pytest

from gateway.core.reasons import REASONS
from gateway.traces.remedies import REMEDIES

NAMES = {"company", "needed", "own_account", "own_account_id", "provider"}


@pytest.mark.parametrize("reason", REMEDIES)
def test_every_remedy_has_a_known_reason_and_known_fields(reason: str):
    texts = REMEDIES[reason]

    assert reason in REASONS
    assert all(each.endswith(".") for each in texts)
    assert {name for each in texts for _, name, _, _ in string.Formatter().parse(each) if name} <= (
        NAMES
    )
