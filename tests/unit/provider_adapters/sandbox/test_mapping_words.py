"""The tables of the bank's words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gateway.banks.port.charges import ChargeType
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.statements import Direction
from provider_adapters.sandbox import mapping
from tests.world.tables import cases


@cases(
    ("table", "kind"),
    [
        (mapping.KEY_TYPES, PixKeyType),
        (mapping.CHARGE_TYPES, ChargeType),
        (mapping.DIRECTIONS, Direction),
    ],
)
def test_every_member_has_one_word(table: Mapping[str, StrEnum], kind: type[StrEnum]):
    assert sorted(table.values()) == sorted(kind)
