"""
The shipped suite, on the other banks of API Pix.

Their calls are those of the adapter whose wire is cut off in every way already, so that of the
wire only what is a bank's own is tried again; ``pixgate adapter verify`` tries all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.stages import subject_of
from provider_adapters.verify import run
from provider_adapters.verify.cases import CaseOutcome
from tests.contract.adapters.not_applicable import OF_PROFILE

STAGES = {
    Name.INTER: "InterStage",
    Name.SICOOB: "SicoobStage",
    Name.BB: "BbStage",
    Name.SICREDI: "SicrediStage",
}
ITS_OWN = {
    Name.INTER: {"wire.list_statement", "wire.find_payout", "wire.create_payout_by_account"},
}


CASES = {each.id: each for each in run.every_case()}


def cases(name: Name) -> Sequence[str]:
    """Return the cases that are tried, by their ids."""
    own = ITS_OWN.get(name, set())
    return [each for each, case in CASES.items() if case.group != "wire" or each in own]


def test_every_profile_has_its_stage():
    assert {*STAGES, Name.EFI} == set(PROFILES)


@pytest.mark.parametrize(
    ("name", "case"), [(name, each) for name in STAGES for each in cases(name)]
)
async def test_a_bank_passes(name: Name, case: str):
    """What does not apply although all that it needs is declared is known with its reason."""
    lacking = CASES[case].lacking(PROFILES[name].capabilities)
    subject = subject_of("apipix", f"provider_adapters.apipix.stage:{STAGES[name]}")

    ended = await run.result(subject, CASES[case])

    assert ended.outcome is not CaseOutcome.FAILED, ended.reason
    passed = ended.outcome is CaseOutcome.PASSED
    known = OF_PROFILE[name].get(case)
    assert (None if passed or ended.reason == lacking else ended.reason) == known
