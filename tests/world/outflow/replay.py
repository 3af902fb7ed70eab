"""Replays a company's payouts, and thefts, against the envelope, under a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import Final

from gateway.outflow.envelope import (
    KNOWN_AFTER_S,
    Envelope,
    Excess,
    Floor,
    History,
    Recent,
    Spent,
    hour_of,
    judge,
)
from tests.world.outflow.kinds import DAY, Kind, Paid

_HOUR_S: Final = 3_600
LOOKS_S: Final = 2
OBEYED_S: Final = 1
"""A stop is in force everywhere within a second."""
FLOOR: Final = Floor(payouts=30, centavos=5_000_000)
Subject = tuple[str, int]
Steals = Callable[[Random, float, int], list[Paid]]


@dataclass(slots=True)
class Guarded:
    """A credential or the company. An account of its own for each credential is judged like it."""

    recent: Recent = field(default_factory=Recent)
    history: History = field(default_factory=History)
    hour: list[Spent] = field(default_factory=list)
    envelope: Envelope | None = None


class Replay:
    """The guard of one company, which looks every two seconds."""

    def __init__(self, known: int, floor: Floor = FLOOR) -> None:
        self.known = known
        self.floor = floor
        self.subjects: dict[Subject, Guarded] = {}
        self.first: dict[int, float] = {}
        self.now_hour = -1

    def look(self, payouts: Iterable[Paid]) -> Sequence[tuple[Subject, Excess]]:
        """Count the payouts since the last look, in one hour; return the subjects outside now."""
        changed: set[Subject] = set()
        for paid in payouts:
            hour = int(paid.at // _HOUR_S)
            if hour != self.now_hour:
                self._turn(hour)
            first = self.first.setdefault(paid.payee, paid.at)
            is_known = 0 <= paid.payee < self.known or paid.at - first >= KNOWN_AFTER_S
            spent = Spent(paid.at, paid.centavos, not is_known)
            for name in (("credential", paid.credential), ("company", 0)):
                held = self.subjects.setdefault(name, Guarded())
                held.recent.add(spent)
                held.hour.append(spent)
                changed.add(name)
        return [(name, each) for name in changed for each in self._judged(self.subjects[name])]

    def clear(self) -> None:
        """Reset the windows, like a person who lifts the stop."""
        for each in self.subjects.values():
            each.recent = Recent()

    def normal_day(self) -> int:
        """Return the money of the company's middle day."""
        held = self.subjects["company", 0]
        return held.history.envelope(self.now_hour, self.floor).until.normal_day

    def _judged(self, held: Guarded) -> Iterator[Excess]:
        if held.envelope is None:
            held.envelope = held.history.envelope(self.now_hour, self.floor)
        return judge(held.recent, held.envelope)

    def _turn(self, hour: int) -> None:
        for each in self.subjects.values():
            if each.hour:
                each.history.add(hour_of(self.now_hour, each.hour))
                each.hour = []
            each.envelope = None
        self.now_hour = hour


def looks(payouts: Iterable[Paid]) -> Iterator[tuple[float, list[Paid]]]:
    """Yield when the guard looks, and the payouts that it finds."""
    for number, found in groupby(payouts, key=lambda each: each.at // LOOKS_S):
        yield (number + 1) * LOOKS_S, [*found]


def false_stops(kind: Kind, seed: int, days: int) -> Iterator[tuple[int, Subject, Excess]]:
    """Yield the stops of a company without a thief, with their days: at most one a day."""
    replay = Replay(kind.known)
    for day, payouts in enumerate(kind.life(Random(seed), days)):
        is_stopped = False
        for _, some in looks(payouts):
            found = replay.look(some)
            if found:
                replay.clear()
            if found and day >= kind.judged_from and not is_stopped:
                is_stopped = True
                yield day, *found[0]


@dataclass(frozen=True, slots=True)
class Theft:
    """
    The extent of a theft.

    Attributes:
        inside: Payouts of the thief before the first one outside the envelope.
        outside: Payouts outside it, until the stop was in force.
        part: The money of both, as a part of a normal day's.
        by: What tripped; None where nothing did.
    """

    inside: int
    outside: int
    part: float
    by: Excess | None


def thefts(kind: Kind, seed: int, days: Iterable[int], steals: Steals) -> Iterator[Theft]:
    """Rob a company on some days, at an hour by chance; each time as if it were the first."""
    replay, chosen = Replay(kind.known), sorted(days)
    for day, payouts in enumerate(kind.life(Random(seed), chosen[-1] + 1)):
        if day in chosen:
            yield _theft(deepcopy(replay), Random(-seed - 1_000 * day), day, steals, payouts)
        for _, some in looks(payouts):
            if replay.look(some):
                replay.clear()


def _theft(
    replay: Replay, thief: Random, day: int, steals: Steals, honest: Sequence[Paid]
) -> Theft:
    normal = replay.normal_day()
    stolen = steals(thief, day * DAY + thief.uniform(0, 18) * _HOUR_S, normal)
    for at, some in looks(sorted([*honest, *stolen])):
        found = replay.look(some)
        if found and at >= stolen[0].at:
            return _stopped(stolen, at, normal, found[0][1])
        if found:
            replay.clear()
    return Theft(len(stolen), 0, sum(each.centavos for each in stolen) / normal, None)


def _stopped(stolen: Sequence[Paid], seen: float, normal: int, by: Excess) -> Theft:
    """Return what was taken until the stop was in force; the look before saw nothing outside."""
    taken = [each for each in stolen if each.at < seen + OBEYED_S]
    outside = [each for each in taken if each.at >= seen - LOOKS_S]
    money = sum(each.centavos for each in taken)
    return Theft(len(taken) - len(outside), len(outside), money / normal, by)
