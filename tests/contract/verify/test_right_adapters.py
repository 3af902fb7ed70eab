"""What may differ between right adapters is not caught: access, keys, calls, batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from provider_adapters.kit.factory import AdapterFactory
from provider_adapters.registry import find
from provider_adapters.sandbox.stage import SandboxStage
from provider_adapters.verify import run
from provider_adapters.verify.cases import CaseOutcome
from provider_adapters.verify.trial import MakeStage, Subject
from tests.contract.verify import wrong_callbacks
from tests.contract.verify.guarded import GuardedFactory, GuardedStage
from tests.contract.verify.wrong_payouts import RefusingStage

KEYLESS = "the bank ignores keys, so the gateway never repeats an order"
BY_ID_ALONE = "payouts are found by the bank's id alone"
LACKED = ("list_keys", "get_key", "get_charge_payment", "list_blocks", "look_up_key")


class ById(SandboxStage):
    """A bank without a look-up by our key, which forgets keys."""

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "repeat": "ignores", "lookup_by_key": False}


class Modest(SandboxStage):
    """A bank that pays by two kinds of keys, and reads little."""

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "lacks": [*LACKED], "key_types": ["email", "cpf"]}


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


SANDBOX = find("sandbox")
BANK = frozenset({"bank"})
RIGHT: Mapping[str, Right] = {
    "tokens and certificates": Right(
        factory=GuardedFactory(),
        stage=GuardedStage,
        groups=frozenset({"bank", "reads", "access"}),
        absent=frozenset({KEYLESS}),
    ),
    "keys are refused": Right(factory=SANDBOX, stage=RefusingStage, groups=BANK),
    "ids alone": Right(
        factory=SANDBOX, stage=ById, groups=BANK, absent=frozenset({KEYLESS, BY_ID_ALONE})
    ),
    "few calls": Right(factory=SANDBOX, stage=Modest, groups=BANK | {"reads"}),
    "several at once": Right(
        factory=wrong_callbacks.RIGHT.factory,
        stage=wrong_callbacks.RIGHT.stage,
        groups=frozenset({"callbacks"}),
    ),
}


@pytest.mark.parametrize("name", list(RIGHT))
async def test_a_right_adapter_passes(name: str):
    right = RIGHT[name]
    subject = Subject(name="right", factory=right.factory, make_stage=right.stage)
    cases = [each for each in run.every_case() if each.group in right.groups]

    ended = [each async for each in run.results(subject, cases)]

    failed = {each.id: each.reason for each in ended if each.outcome is CaseOutcome.FAILED}
    assert failed == {}
    apart = [each for each in ended if each.outcome is CaseOutcome.NOT_APPLICABLE]
    reasons = {each.reason for each in apart if not each.reason.endswith(" declared")}
    assert reasons == right.absent
