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
from tests.unit.provider_adapters.stock import StockTransport

CASES = {each.id: each for each in run.every_case()}
ADAPTERS = pytest.mark.parametrize("name", list(STAGES))
NO_TOKENS = "the bank gives no access tokens"
NO_CERTIFICATES = "the bank asks for no certificate of an account"
ONE_EACH = "the stage's bank sends a callback for each thing"
WITHOUT: Mapping[str, frozenset[str]] = {
    "sandbox": frozenset({NO_TOKENS, NO_CERTIFICATES, ONE_EACH}),
    "starkbank": frozenset(
        {
            NO_TOKENS,
            NO_CERTIFICATES,
            ONE_EACH,
            "no refusal for too many calls is listed",
            "the bank does not tell that it holds a transfer",
            "the bank's answer shows no end-to-end id",
        }
    ),
    "woovi": frozenset(
        {
            NO_TOKENS,
            NO_CERTIFICATES,
            ONE_EACH,
            "the bank does not tell whether it holds a payout",
            "the bank's answer shows no end-to-end id",
        }
    ),
    "apipix": frozenset(
        {
            "Efí tells of no payout that held",
            "Efí tells of no payout that returns",
        }
    ),
    "asaas": frozenset(
        {
            NO_TOKENS,
            NO_CERTIFICATES,
            ONE_EACH,
            "the bank ignores keys, so the gateway never repeats an order",
            "payouts are found by the bank's id alone",
            "no document of the bank tells of payouts under analysis",
            "its proof says who sent a callback, and covers no body",
        }
    ),
}
"""Why a case does not apply to an adapter that declares all its calls, in the case's words."""

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
    if found.outcome is CaseOutcome.NOT_APPLICABLE:
        lacking = CASES[case].lacking(registry.find(name).capabilities)
        known = {lacking, *WITHOUT.get(name, ())}
        assert found.reason in known, "mend the stage; what the bank has not belongs into WITHOUT"


@ADAPTERS
def test_what_does_not_apply_is_still_so(name: str):
    """A reason that no case gives any more is taken from the list."""
    given = {each.reason for each in verified(name).values()}

    assert WITHOUT.get(name, frozenset()) - given == set()


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
