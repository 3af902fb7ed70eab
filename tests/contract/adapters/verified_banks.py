"""The banks that the shipped suite is run on, and the cases that each of them is tried with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.banks.port.capabilities import Capabilities
from provider_adapters import registry
from provider_adapters.apipix.profiles import PROFILES
from provider_adapters.testing.stages import STAGES, subject_of
from provider_adapters.testing.verify.trial import Case, Subject
from tests.contract.adapters.not_applicable import OF_PROFILE, WITHOUT
from tests.world.extent import DAY, WHOLE
from tests.world.verified import CASES


@dataclass(frozen=True, kw_only=True)
class VerifiedBank:
    """
    A bank with its stage.

    Attributes:
        without: Cases that do not apply although all that they need is declared, with the reason.
        wire: The cases of the wire that are its own; None for all.
    """

    name: str
    subject: Subject
    capabilities: Capabilities
    without: Mapping[str, str] = field(default_factory=dict)
    wire: frozenset[str] | None = None

    def tries(self, case: Case) -> bool:
        return case.group != "wire" or self.wire is None or case.id in self.wire

    def applies(self, case: Case) -> bool:
        """Whether the case is tried, and is expected to pass."""
        lacking = case.lacking(self.capabilities)
        return self.tries(case) and not lacking and case.id not in self.without


def _registered(name: str) -> VerifiedBank:
    return VerifiedBank(
        name=name,
        subject=subject_of(name),
        capabilities=registry.find(name).capabilities,
        without=WITHOUT[name],
    )


def _profile(name: str, stage: str, *wire: str) -> VerifiedBank:
    """Of API Pix: the adapter's wire is tested with one representative profile."""
    return VerifiedBank(
        name=name,
        subject=subject_of("apipix", f"provider_adapters.testing.stages:{stage}"),
        capabilities=PROFILES[name].capabilities,
        without=OF_PROFILE[name],
        wire=frozenset(wire),
    )


BANKS: Mapping[str, VerifiedBank] = {
    bank.name: bank
    for bank in (
        *map(_registered, STAGES),
        _profile(
            "inter",
            "InterStage",
            "wire.list_statement",
            "wire.find_payout",
            "wire.create_payout_by_account",
        ),
        _profile("sicoob", "SicoobStage"),
        _profile("bb", "BbStage"),
        _profile("sicredi", "SicrediStage"),
    )
}
SANDBOX = BANKS["sandbox"]
OTHERS = [each for name, each in BANKS.items() if name != "sandbox"]


def banks_of(case: Case, *, day: int = DAY, whole: bool = WHOLE) -> Sequence[VerifiedBank]:
    """
    Return all that try the case, or the sandbox and one other bank that it applies to.

    A case of the wire is tried at the other bank alone: it waits for time limits.
    """
    if whole:
        return [each for each in BANKS.values() if each.tries(case)]
    applicable = [each for each in OTHERS if each.applies(case)]
    if not applicable:
        return [SANDBOX]
    other = applicable[(list(CASES).index(case.id) + day) % len(applicable)]
    return [other] if case.group == "wire" else [SANDBOX, other]
