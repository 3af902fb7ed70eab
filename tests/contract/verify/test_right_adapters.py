"""What may differ between right adapters is not caught: access, and callbacks of several things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from provider_adapters.kit.factory import AdapterFactory
from provider_adapters.testing.verify.trial import MakeStage, Subject
from tests.contract.verify import wrong_callbacks
from tests.contract.verify.guarded import GuardedFactory, GuardedStage
from tests.world.verified import CASES, PASSED, ended

KEYLESS = "not applicable: the bank ignores keys, so the gateway never repeats an order"


@dataclass(frozen=True, kw_only=True)
class Right:
    """
    A right adapter.

    Attributes:
        groups: Of cases, in which it differs from the sandbox's; the rest it has in common.
        absent: Why cases of these groups need not apply, beside calls that are not declared.
    """

    factory: AdapterFactory
    stage: MakeStage
    groups: frozenset[str]
    absent: frozenset[str] = frozenset()


RIGHT: Mapping[str, Right] = {
    "tokens and certificates": Right(
        factory=GuardedFactory(),
        stage=GuardedStage,
        groups=frozenset({"bank", "reads", "access"}),
        absent=frozenset({KEYLESS}),
    ),
    "several at once": Right(
        factory=wrong_callbacks.RIGHT.factory,
        stage=wrong_callbacks.RIGHT.stage,
        groups=frozenset({"callbacks"}),
    ),
}


@pytest.mark.parametrize("name", list(RIGHT))
async def test_a_correct_adapter_passes(name: str):
    right = RIGHT[name]
    subject = Subject(name="right", factory=right.factory, make_stage=right.stage)
    cases = [each for each in CASES.values() if each.group in right.groups]

    why = {await ended(subject, each) for each in cases}

    declared = {each for each in why if each.endswith(" declared")}
    assert why - declared == {PASSED, *right.absent}
