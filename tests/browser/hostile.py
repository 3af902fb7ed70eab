"""
Hostile texts in each field that a partner or a bank can set.

The fields are found, not listed: partners' fields from the bodies of their routes, banks' fields
from every answer of the port; the longest text of a field is found by trying. Each text begins with
a mark of its own, by which it is found in a page.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import msgspec

from gateway.banks.checked_adapter import CheckedAdapter
from gateway.payouts.bodies import BankAccountPayoutBody, PixPayoutBody
from tests.world.answers import CALLS, CheckedWorld, changed, saying
from tests.world.gateway.world import World

SAID = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&\u202e\u200b\u2066/%2e%2e/%00😀"
LENGTHS = (1024, 512, 256, 128, 77, 32)
"""The longest that any field takes, and less where that is refused."""

LONGEST_TRACE_ID = 128
ASKED_BY = frozenset({("PixKey", "provider_id")})
"""What we name things by at the bank: there another text is another thing."""

Place = tuple[str, str, str]
"""A call of the port, a kind of value in its answer, and a text of it."""

Choose = Callable[[str, str, str], str]


def text(mark: str, longest: int) -> str:
    """Write a text as long as may be, without a blank: a formula, markup, overrides, a path."""
    return f"={mark}{SAID}".ljust(longest, "w")[:longest]


def rewritten(value: Any, choose: Choose) -> Any:
    """Copy a value with other texts, which ``choose`` gives by kind, name and original text."""
    if isinstance(value, list | tuple):
        return type(value)(rewritten(each, choose) for each in value)
    if isinstance(value, type) or not (
        isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value)
    ):
        return value
    kind, parts = type(value).__name__, {}
    for name in _names(value):
        old = getattr(value, name)
        parts[name] = choose(kind, name, old) if type(old) is str else rewritten(old, choose)
    return changed(value, **parts)


def _names(value: Any) -> list[str]:
    if isinstance(value, msgspec.Struct):
        return list(value.__struct_fields__)
    return [each.name for each in dataclasses.fields(value)]


async def bank_places() -> Mapping[Place, int]:
    """Find the texts of a bank that are used unchanged, and how long they may be."""
    found: dict[Place, int] = {}
    for call, known in CALLS.items():
        met: list[tuple[str, str]] = []

        def note(kind: str, name: str, old: str, met: list[tuple[str, str]] = met) -> str:
            met.append((kind, name))
            return old

        rewritten(known.answer, note)
        for kind, name in sorted(set(met) - ASKED_BY):
            longest = [each for each in LENGTHS if await _is_believed(call, kind, name, each)]
            if longest:
                found[call, kind, name] = longest[0]
    return found


async def _is_believed(call: str, kind: str, name: str, longest: int) -> bool:
    """Say whether an adapter may say a text there."""
    said = rewritten(
        CALLS[call].answer,
        lambda its, part, old: text("x", longest) if (its, part) == (kind, name) else old,
    )
    world = CheckedWorld(**{call: saying(said)})
    try:
        await world.ask(call)
    except Exception:  # noqa: BLE001 - refused, in whatever way
        return False
    return not world.counted


@dataclass
class HostileAdapter:
    """
    An adapter that returns hostile texts wherever they are accepted, and the truth otherwise.

    Attributes:
        marks: The marks that were given out, by place.
        truth: What stood where a hostile text stands: we may be asked by it.
    """

    behind: Any
    places: Mapping[Place, int]
    marks: dict[Place, str] = field(default_factory=dict)
    truth: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.capabilities = self.behind.capabilities

    def __getattr__(self, name: str) -> object:
        truthful = getattr(self.behind, name)
        if name not in CALLS:
            return truthful

        async def call(*asked: object) -> object:
            meant = [self.truth.get(each, each) for each in asked if isinstance(each, str)]
            told = [
                meant.pop(0) if isinstance(each, str) else rewritten(each, self._true)
                for each in asked
            ]
            answer = await truthful(*told)
            return rewritten(answer, lambda *what: self._said(name, *what))

        return call

    def _true(self, _kind: str, _name: str, said: str) -> str:
        return self.truth.get(said, said)

    def _said(self, call: str, kind: str, name: str, true: str) -> str:
        place = (call, kind, name)
        if place not in self.places:
            return true
        mark = self.marks.setdefault(place, f"bank{len(self.marks)}q")
        said = text(f"{mark}{next(self.numbers)}", self.places[place])
        self.truth[said] = true
        return said


async def become_hostile(world: World) -> HostileAdapter:
    """Let the bank of a running gateway say hostile texts from now on."""
    checked = world.gateway.connections["sandbox"].adapter
    assert isinstance(checked, CheckedAdapter)
    adapter = HostileAdapter(behind=checked.checked, places=await bank_places())
    checked.checked = adapter  # type: ignore[assignment]
    return adapter


def partner_places() -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Return each text of each body that pays out, with a body that is right."""
    pix = {"tax_number": "529.982.247-25", "key_type": "evp", "name": "Maria Silva"}
    pix["key"] = "7e1cf2a4-9d0b-4a53-8f3a-0c6f8f0f2b11"
    bank = {"tax_number": "529.982.247-25", "name": "Maria", "bank_number": "001"}
    bank |= {"branch": "0001", "account": "123456-7"}
    for method, body, to in (
        ("pix", PixPayoutBody, pix),
        ("bank_account", BankAccountPayoutBody, bank),
    ):
        hints = get_type_hints(body)
        names = [(name,) for name, kind in hints.items() if kind is str]
        names += [
            ("destination", name)
            for name, kind in get_type_hints(hints["destination"]).items()
            if kind is str
        ]
        for place in names:
            yield {"method": method, "value": 1.23, "destination": dict(to)}, place


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A payout that a partner ordered with a hostile text in one place."""

    place: tuple[str, ...]
    mark: str
    reference: str


async def order_all(world: World) -> list[Order]:
    """Pay out once for each text that a partner may send, as long as it may be."""
    ordered = []
    for number, (body, place) in enumerate(partner_places()):
        for longest in LENGTHS:
            mark = f"partner{number}q"
            document = {**body, "date": world.today(), "reference": f"of-{mark}"}
            within = document["destination"] if len(place) > 1 else document
            within[place[-1]] = text(mark, longest)
            if (await world.pay(document)).status == 200:
                reference = str(document["reference"])
                ordered.append(Order(place=place, mark=mark, reference=reference))
                break
    return ordered
