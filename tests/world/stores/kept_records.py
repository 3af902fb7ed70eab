"""What several tests of kept records share."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.app.kept_records import KeptRecords, build_kept_records
from gateway.config.settings import Database, Settings
from gateway.identity.signing_keys import Keyring
from tests.world.registers import Registers

PATIENT = Settings(database=Database(auth_timeout_s=30))


@dataclass
class Watch:
    counted: list[tuple[str, str]] = field(default_factory=list)
    shown: dict[str, float] = field(default_factory=dict)

    def count(self, event: str, label: str) -> None:
        self.counted.append((event, label))

    def show(self, figure: str, value: float) -> None:
        self.shown[figure] = value

    def forgotten(self) -> list[str]:
        """Dropped records, and the process that reported them."""
        return [label for event, label in self.counted if event == "forgotten"]


def keep(office: Registers, watch: Watch) -> KeptRecords:
    """Keep records of a store, as a gateway does."""
    store = office.store
    keyring = Keyring(store.identity.signing_keys.list, office.sealer, office.clock, lambda: 0.0)
    return build_kept_records(PATIENT, store, keyring, watch, office.clock)  # type: ignore[arg-type] # half
