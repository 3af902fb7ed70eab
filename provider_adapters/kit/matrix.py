"""
The matrix of adapters: every capability, and each adapter's declaration.

Made from ``Capabilities`` alone. A new call, or a new word of a set, is a line by itself; a new
field of ``Capabilities`` needs one here, and a test says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.banks.port.capabilities import (
    CONTRACT_CALLS,
    OPTIONAL_CALLS,
    Capabilities,
    EntryField,
    Lookup,
    PortCall,
    ProofKind,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.account import Environment

Tell = Callable[[Capabilities], str]
"""Returns the cell of an adapter's declaration."""

MARK: Final = "<!-- matrix -->\n"
"""The line of a README that the matrix follows, to its end."""

_YES: Final = "yes"
_NO: Final = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One word, and a cell for each adapter; ``part`` groups words of one kind."""

    part: str
    word: str
    cells: tuple[str, ...]


def matrix(declared: Sequence[Capabilities]) -> Sequence[Line]:
    """Return every line of the matrix, a cell for each of ``declared`` in their order."""
    return [
        Line(part=part, word=word, cells=tuple(map(tell, declared)))
        for part, cells in _PARTS.items()
        for word, tell in cells
    ]


def markdown(columns: Mapping[str, Capabilities], heading: str = "##") -> Iterator[str]:
    """Write the matrix as one table for each part, an adapter in each column."""
    part = ""
    for line in matrix(tuple(columns.values())):
        if line.part != part:
            part = line.part
            yield from ("", f"{heading} {part}", "")
            yield _row(("", *columns))
            yield _row(["---"] * (len(columns) + 1))
        yield _row((f"`{line.word}`", *line.cells))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _has(field: str, word: StrEnum) -> tuple[str, Tell]:
    return word.value, lambda declared: _said(word in getattr(declared, field))


def _is(field: str) -> tuple[str, Tell]:
    """Make the line of a field that is true or false."""
    return field, lambda declared: _said(getattr(declared, field))


def _hosts(environment: Environment) -> tuple[str, Tell]:
    def tell(declared: Capabilities) -> str:
        return ", ".join(sorted(declared.hosts.of(environment))) or _NO

    return environment.value, tell


def _said(yes: bool) -> str:  # noqa: FBT001 - the one thing that it says
    return _YES if yes else _NO


def _repeat(declared: Capabilities) -> str:
    return declared.repeat.value if declared.payouts else _NO


def _absent_after(declared: Capabilities) -> str:
    after = declared.absent_after
    return _NO if after is None else f"{after.total_seconds():g} s"


def _max_value(declared: Capabilities) -> str:
    return _NO if declared.max_value is None else f"R$ {declared.max_value}"


def _largest_page(declared: Capabilities) -> str:
    return str(declared.largest_page)


_PARTS: Final[Mapping[str, Sequence[tuple[str, Tell]]]] = {
    "Calls of the contract": [_has("calls", call) for call in CONTRACT_CALLS],
    "Optional calls": [_has("calls", call) for call in PortCall if call in OPTIONAL_CALLS],
    "Destinations of payouts": [_has("destinations", word) for word in PayoutMethod],
    "A payout is found by": [_has("lookup", word) for word in Lookup],
    "Payouts": [
        ("repeat", _repeat),
        ("absent_after", _absent_after),
        ("max_value", _max_value),
    ],
    "A movement of the statement carries": [_has("entry_fields", word) for word in EntryField],
    "Balance, lists and accounts": [
        _is("blocked_known"),
        ("largest_page", _largest_page),
        _is("account_credentials"),
        _is("alphanumeric_cnpj"),
    ],
    "States of a charge": [_has("charge_states", word) for word in ChargeStatus],
    "Callbacks are proven by": [_has("callback_proofs", word) for word in ProofKind],
    "Hosts": [_hosts(each) for each in Environment],
}
