"""
The shipped suite, on every adapter of ours: each case is passed, or known not to apply.

A fault of the wire at a read does not depend on what the bank says: the sandbox has all of them,
each other adapter a fixed quarter. ``make proofs`` tries all of them on every adapter.
"""

from __future__ import annotations

import dataclasses

import pytest

from gateway.domain.bank.capabilities import PortCall
from provider_adapters import registry
from provider_adapters.sandbox.simulator.dialect import SANDBOX
from provider_adapters.sandbox.stage import SandboxStage
from provider_adapters.simulated_bank.kernel.accounts import PayoutKind
from provider_adapters.stages import STAGES, subject_of
from provider_adapters.verify import run
from provider_adapters.verify.cases import CaseOutcome
from provider_adapters.verify.trial import MakeStage, Subject
from tests.contract.adapters.not_applicable import WITHOUT
from tests.world.banks.stock import StockTransport
from tests.world.extent import DAY, WHOLE

CASES = {each.id: each for each in run.every_case()}
MONEY = {
    f"wire.{each}"
    for each in ("create_payout_by_key", "create_payout_by_account", "create_refund", "find_payout")
}
"""Always tried on all: what moves money, and what says whether it moved."""
READS = [f"wire.{each.value}" for each in PortCall if f"wire.{each.value}" in {*CASES} - MONEY]
OTHERS = [each for each in STAGES if each != "sandbox"]
TURNS = range(-(-len(READS) // len(OTHERS)))
TRIED = [
    (name, case)
    for name in STAGES
    for case in CASES
    if WHOLE or name == "sandbox" or case not in READS
]
OVER_STOCK = ["wire.get_balance", "wire.create_payout_by_key", "wire.deadline"]
UNREACHED = [each for each in CASES if each.startswith(("wire.connection_", "wire.tls_"))]


def of_the_day(name: str, turn: int, day: int) -> str:
    """Choose a read that is tried on one of the others; on a day each of them has its own."""
    place = turn * len(OTHERS) + (OTHERS.index(name) + day) % len(OTHERS)
    return READS[place % len(READS)]


@pytest.mark.parametrize(("name", "case"), TRIED)
async def test_an_adapter_passes(name: str, case: str):
    """Mend the stage; what the bank has not belongs into the table of reasons, and nothing else."""
    await passes(name, case)


@pytest.mark.skipif(WHOLE, reason="among all cases")
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("name", OTHERS)
async def test_an_adapter_passes_its_quarter_of_the_faults(name: str, turn: int):
    await passes(name, of_the_day(name, turn, DAY))


def test_each_read_has_its_day_on_each_adapter_and_an_adapter_on_each_day():
    days = range(739_000, 739_000 + len(OTHERS))
    tried = {day: {(n, of_the_day(n, turn, day)) for n in OTHERS for turn in TURNS} for day in days}

    assert {case for case in CASES if case.startswith("wire.")} - {*READS} >= MONEY
    assert all({case for _, case in each} == {*READS} for each in tried.values())
    assert set().union(*tried.values()) == {(name, case) for name in OTHERS for case in READS}


async def passes(name: str, case: str) -> None:
    """See that a case is passed, or does not apply for a reason that is known."""
    lacking = CASES[case].lacking(registry.find(name).capabilities)

    ended = await run.result(subject_of(name), CASES[case])

    assert ended.outcome is not CaseOutcome.FAILED, f"{case}: {ended.reason}"
    passed = ended.outcome is CaseOutcome.PASSED
    assert (None if passed or ended.reason == lacking else ended.reason) == reason_of(name, case)


def reason_of(name: str, case: str) -> str | None:
    """Why a case does not apply although all that it needs is declared."""
    return WITHOUT.get(name, {}).get(case)


def test_reasons_are_of_adapters_and_cases_that_there_are():
    assert WITHOUT.keys() <= STAGES.keys()
    assert {case for reasons in WITHOUT.values() for case in reasons} <= CASES.keys()


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
