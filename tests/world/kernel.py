"""A kernel for tests: clocks that stand still, known keys, and a record of its events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gateway.app.kernel import Kernel, SilentObserver
from gateway.config.settings import Settings
from gateway.identity.context import IdentityEvents
from gateway.security.keys import Derivation, Keys
from gateway.security.sealing import Sealer
from gateway.security.secrets import SecretDigester
from gateway.telemetry.records import AccessRecord
from tests.world.standing import Clock

_SEALING, _PEPPERS = {"k1": b"k" * 32}, {"p1": b"p" * 32}
KEYS = Keys(
    digester=SecretDigester(_PEPPERS, "p1"),
    sealer=Sealer(_SEALING, "k1"),
    derivation=Derivation(_SEALING, "k1"),
    password_peppers={"p": b"p" * 32},
    ids={"sealing": ["k1"], "pepper": ["p1"], "passwords": [""]},
)
"""The same in every process of a test."""


@dataclass(slots=True)
class Witness(SilentObserver):
    """
    Keeps what it is told; a ``RequestObserver``.

    Attributes:
        counted: Events, each with its label.
        security_events: Words for the security log, each with the user it is about.
    """

    records: list[AccessRecord] = field(default_factory=list)
    counted: list[tuple[str, str]] = field(default_factory=list)
    security_events: list[tuple[str, str]] = field(default_factory=list)

    def request(self, record: AccessRecord) -> None:
        self.records.append(record)

    def count(self, event: str, label: str) -> None:
        self.counted.append((event, label))

    @property
    def events(self) -> IdentityEvents:
        return IdentityEvents(lambda *told: self.security_events.append(told), self.count)


def kernel_on(store: Any, clock: Clock, **changed: Any) -> Kernel:
    """Build the kernel on a store, or on as much of one as a test needs."""
    parts = {"settings": Settings(), "keys": KEYS, "monotonic": clock.monotonic, **changed}
    return Kernel(store=store, now=clock.now, **parts)
