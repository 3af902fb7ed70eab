"""The shipped suite, on every adapter of ours: each case is passed, or known not to apply."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from functools import cache

import pytest

from gateway.domain.bank.capabilities import PortCall
from provider_adapters import registry
from provider_adapters.sandbox.simulator.dialect import SANDBOX
from provider_adapters.sandbox.stage import SandboxStage
from provider_adapters.simulated_bank.kernel.accounts import PayoutKind
from provider_adapters.stages import STAGES, subject_of
from provider_adapters.verify import run
from provider_adapters.verify.cases import CaseOutcome, CaseResult
from provider_adapters.verify.trial import MakeStage, Subject
from tests.contract.adapters.not_applicable import WITHOUT
from tests.unit.provider_adapters.stock import StockTransport

CASES = {each.id: each for each in run.every_case()}
ADAPTERS = pytest.mark.parametrize("name", list(STAGES))
OVER_STOCK = ["wire.get_balance", "wire.create_payout_by_key", "wire.deadline"]
UNREACHED = [each for each in CASES if each.startswith(("wire.connection_", "wire.tls_"))]


@cache
def verified(name: str) -> Mapping[str, CaseResult]:
    """Run the suite on an adapter, once."""

    async def ended() -> dict[str, CaseResult]:
        subject = subject_of(name)
        return {each.id: each async for each in run.results(subject, list(CASES.values()))}

    return asyncio.run(ended())


@ADAPTERS
@pytest.mark.parametrize("case", list(CASES))
def test_an_adapter_passes(name: str, case: str):
    found = verified(name)[case]

    assert found.outcome is not CaseOutcome.FAILED, found.reason


@ADAPTERS
def test_what_does_not_apply_is_known_with_its_reason(name: str):
    """Mend the stage; what the bank has not belongs into the table, and nothing else."""
    declared = registry.find(name).capabilities
    apart = {
        each.id: each.reason
        for each in verified(name).values()
        if each.outcome is CaseOutcome.NOT_APPLICABLE
        and each.reason != CASES[each.id].lacking(declared)
    }

    assert apart == WITHOUT.get(name, {})


class RefusesKnownKeys(SandboxStage):
    """The sandbox bank as one that refuses a key that it knows."""

    dialect = dataclasses.replace(SANDBOX, payout_kind=PayoutKind.DUP)

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "repeat": "refuses"}


class KnowsItsOwnIds(SandboxStage):
    """The sandbox bank as one that finds payouts by its own id alone, and pays a key again."""

    dialect = dataclasses.replace(SANDBOX, payout_kind=PayoutKind.NONE)

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "repeat": "ignores", "lookup_by_key": False}


class ReadsAlone(SandboxStage):
    """The sandbox bank as one that pays nothing out."""

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "payouts": False, "lacks": ["list_statement"]}


@pytest.mark.parametrize("kind", [RefusesKnownKeys, KnowsItsOwnIds, ReadsAlone])
@pytest.mark.parametrize("group", ["bank", "calls", "reads"])
async def test_the_sandbox_passes_as_any_kind_of_bank(kind: type[SandboxStage], group: str):
    subject = Subject(name="sandbox", factory=registry.find("sandbox"), make_stage=kind)
    cases = [each for each in CASES.values() if each.group == group]

    ended = [each async for each in run.results(subject, cases)]

    assert [each for each in ended if each.outcome is CaseOutcome.FAILED] == []
    assert any(each.outcome is CaseOutcome.PASSED for each in ended)


def over_stock(make_stage: MakeStage) -> Subject:
    return Subject(
        name="sandbox",
        factory=registry.find("sandbox"),
        make_stage=make_stage,
        transport=StockTransport,
    )


@pytest.mark.parametrize("case", [*OVER_STOCK, *UNREACHED])
async def test_the_same_holds_over_another_client(case: str):
    """Over aiohttp's own: what the suite proves is the adapter's, and not its transport's."""
    subject = over_stock(subject_of("sandbox").make_stage)

    ended = await run.result(subject, CASES[case])

    assert ended.outcome is CaseOutcome.PASSED, ended.reason


def test_every_call_is_cut_off():
    """A call that is added to the port is added to the suite."""
    tried = {case.removeprefix("wire.") for case in CASES if case.startswith("wire.")}
    tried |= {PortCall.CREATE_PAYOUT} if "create_payout_by_key" in tried else set()

    assert set(PortCall) <= tried
