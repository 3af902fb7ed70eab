"""The shipped suite, on every adapter of ours: each case is passed, or known not to apply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache

import pytest

from gateway.domain.bank.capabilities import PortCall
from provider_adapters import registry
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
