"""
The shipped suite on every adapter: each case passes, or is known not to apply.

Each case runs on the sandbox and on one other bank, one of the wire on the other alone;
``make proofs`` runs it on every bank.
"""

from __future__ import annotations

import dataclasses

import pytest

from gateway.banks.port.capabilities import PortCall
from provider_adapters import registry
from provider_adapters.apipix.profiles import PROFILES
from provider_adapters.testing.bank.accounts import PayoutKind
from provider_adapters.testing.sandbox import SANDBOX
from provider_adapters.testing.stages import STAGES, SandboxStage, subject_of
from provider_adapters.testing.verify.trial import MakeStage, Subject
from tests.contract.adapters.not_applicable import OF_PROFILE, WITHOUT
from tests.contract.adapters.verified_banks import BANKS, OTHERS, VerifiedBank, banks_of
from tests.world.banks.stock import StockTransport
from tests.world.verified import CASES, PASSED, ended

OVER_STOCK = [
    "wire.get_balance", "wire.create_payout_by_key", "wire.deadline", "wire.unreached",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_a_verification_case_passes(case: str):
    """If it fails, correct the stage; the table of reasons only lists what the bank lacks."""
    problems = [await problem_of(bank, case) for bank in banks_of(CASES[case])]

    assert [each for each in problems if each] == []


async def problem_of(bank: VerifiedBank, case: str) -> str:
    """Say why a case neither passed nor failed to apply for its known reason."""
    reason = CASES[case].lacking(bank.capabilities) or bank.without.get(case, "")

    found = await ended(bank.subject, case)

    right = found == (f"not applicable: {reason}" if reason else PASSED)
    return "" if right else f"{bank.name}: {found or 'it passes'}"


def test_each_applicable_case_is_tried_at_each_bank_once_in_eight_days():
    days = range(len(OTHERS))
    tried = {
        (day, bank.name, case.id)
        for day in days
        for case in CASES.values()
        for bank in banks_of(case, day=day, whole=False)
    }

    applicable = {(b.name, case.id) for b in OTHERS for case in CASES.values() if b.applies(case)}
    assert {(name, case) for _, name, case in tried if name != "sandbox"} == applicable
    assert {(day, name) for day, name, _ in tried} == {
        (day, name) for day in days for name in BANKS
    }


def test_exceptions_name_existing_banks_and_cases():
    assert WITHOUT.keys() <= STAGES.keys()
    assert OF_PROFILE.keys() == set(PROFILES) - {"efi"} == BANKS.keys() - STAGES.keys()
    assert {case for bank in BANKS.values() for case in bank.without} <= CASES.keys()


def test_no_reason_repeats_a_declaration():
    repeated = [
        (bank.name, case)
        for bank in BANKS.values()
        for case in bank.without
        if CASES[case].lacking(bank.capabilities)
    ]

    assert repeated == []


class RefusesKnownKeys(SandboxStage):
    dialect = dataclasses.replace(SANDBOX, payout_kind=PayoutKind.DUP)

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "repeat": "refuses"}


class KnowsItsOwnIds(SandboxStage):
    """The sandbox bank as one that finds payouts by its own id alone, and pays a key again."""

    dialect = dataclasses.replace(SANDBOX, payout_kind=PayoutKind.NONE)

    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "repeat": "ignores", "lookup_by_key": False}


class ReadsAlone(SandboxStage):
    def settings(self, address: str) -> dict[str, object]:
        return {"base_url": address, "payouts": False, "lacks": ["list_statement"]}


@pytest.mark.parametrize(
    ("kind", "groups"),
    [
        (RefusesKnownKeys, {"bank"}),
        (KnowsItsOwnIds, {"bank"}),
        (ReadsAlone, {"bank", "calls", "reads"}),
    ],
)
async def test_the_sandbox_passes_as_each_kind_of_bank(kind: type[SandboxStage], groups: set[str]):
    subject = Subject(name="sandbox", factory=registry.find("sandbox"), make_stage=kind)
    cases = [each for each in CASES.values() if each.group in groups]

    why = {each.id: await ended(subject, each) for each in cases}

    assert {name: each for name, each in why.items() if each.startswith("failed")} == {}
    assert PASSED in why.values()


def over_stock(make_stage: MakeStage) -> Subject:
    return Subject(
        name="sandbox",
        factory=registry.find("sandbox"),
        make_stage=make_stage,
        transport=StockTransport,
    )


@pytest.mark.parametrize("case", OVER_STOCK)
async def test_the_suite_passes_over_aiohttp_s_own_client(case: str):
    """So the suite proves the adapter, and not its transport."""
    subject = over_stock(subject_of("sandbox").make_stage)

    assert await ended(subject, case) == PASSED


def test_every_port_call_has_a_case_of_a_lost_connection():
    """A new port call must be added to the suite."""
    tried = {case.removeprefix("wire.") for case in CASES if case.startswith("wire.")}
    tried |= {PortCall.CREATE_PAYOUT} if "create_payout_by_key" in tried else set()

    assert set(PortCall) <= tried
