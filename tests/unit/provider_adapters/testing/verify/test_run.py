"""How a case ends: passed, failed or not applicable, each with its reason."""

from __future__ import annotations

import asyncio

import pytest

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import NotFound
from provider_adapters.registry import find
from provider_adapters.testing.sandbox.stage import SandboxStage
from provider_adapters.testing.verify import run
from provider_adapters.testing.verify.cases import Case, CaseOutcome, Run
from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.trial import Subject, Trial
from tests.world.tables import cases
from tests.world.waiting import forever

SUBJECT = Subject(name="sandbox", factory=find("sandbox"), make_stage=SandboxStage)


class ReadOnly(SandboxStage):
    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "payouts": False}


async def passes(trial: Trial) -> None:
    trial.expect(trial.account.provider_account, "there is an account")


async def fails(trial: Trial) -> None:
    trial.expect(trial.stage.accounts == [], "there are accounts")


async def raises(trial: Trial) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(raises_inside())


async def raises_inside() -> None:
    name = "amount"
    raise KeyError(name)


async def does_not_apply(trial: Trial) -> None:
    message = "the bank has no such thing"
    raise NotApplicable(message)


async def expects_nothing(trial: Trial) -> None:
    pass


async def hangs(trial: Trial) -> None:
    await forever()


def case(made: Run, *needs: PortCall) -> Case:
    return Case(id="group.name", title="", needs=frozenset(needs), run=made)


@cases(
    ("made", "outcome", "reason"),
    [
        (passes, CaseOutcome.PASSED, ""),
        (fails, CaseOutcome.FAILED, "there are accounts"),
        (raises, CaseOutcome.FAILED, "KeyError: 'amount' at "),
        (does_not_apply, CaseOutcome.NOT_APPLICABLE, "the bank has no such thing"),
        (expects_nothing, CaseOutcome.FAILED, "the case expected nothing of the adapter"),
    ],
)
async def test_a_case_ends_in_one_of_three_ways(made: Run, outcome: CaseOutcome, reason: str):
    ended = await run.result(SUBJECT, case(made))

    assert (ended.outcome, ended.group) == (outcome, "group")
    assert ended.reason.startswith(reason)
    assert bool(ended.checks) is (made is passes)


async def test_a_case_that_hangs_has_failed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "LONGEST_S", 0.3)

    ended = await run.result(SUBJECT, case(hangs))

    assert (ended.outcome, ended.reason) == (CaseOutcome.FAILED, "took longer than 0 s")


async def test_a_call_that_is_not_declared_needs_no_proof():
    subject = Subject(name="sandbox", factory=find("sandbox"), make_stage=ReadOnly)

    ended = await run.result(subject, case(passes, PortCall.GET_BALANCE, PortCall.CREATE_PAYOUT))

    assert ended.outcome is CaseOutcome.NOT_APPLICABLE
    assert ended.reason == "create_payout is not declared"


async def test_what_a_call_must_raise_is_expected(monkeypatch: pytest.MonkeyPatch):
    async def wrong(trial: Trial) -> None:
        async with trial.harness() as harness:
            await trial.raised(NotFound, harness.adapter.get_balance(trial.account), "a balance")

    ended = await run.result(SUBJECT, case(wrong))

    assert ended.outcome is CaseOutcome.FAILED
    assert ended.reason.startswith("a balance: answered Balance(")


async def test_the_counts_of_a_group_are_those_of_its_cases():
    cases = [case(passes), case(passes), case(fails), case(does_not_apply)]

    report = run.Report([each async for each in run.results(SUBJECT, cases)])

    assert report.failed
    assert report.groups == {
        "group": run.Counts(passed=2, failed=1, not_applicable=1, checks=2),
    }


def test_the_cases_stand_group_by_group():
    groups = [each.group for each in run.every_case()]

    assert groups == sorted(groups, key=groups.index)
    assert len({each.id for each in run.every_case()}) == len(groups)
    assert all(each.title for each in run.every_case())
