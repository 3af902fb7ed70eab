"""What a metric is before it has a value: its name, its labels and their closed sets of values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

OTHER: Final = "_OTHER"
"""Stands for every label value outside of its set, so that no caller can add series."""

NONE: Final = "none"
"""Surface and route of a request that never reached one."""


class Kind(StrEnum):
    """How the values of a family behave."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Label:
    """
    One label.

    Attributes:
        values: Its closed set; None when the set is known at start only (see
            ``Vocabulary``), or when the one value is set by us at start.
    """

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """
    One metric as documented.

    Attributes:
        name: With prefix and unit, as scraped.
        joined: How the values of several processes make one: ``sum``, ``max`` or ``min``.
        bounds: Upper bounds of a histogram's buckets, in seconds.
    """

    name: str
    kind: Kind
    meaning: str
    labels: tuple[Label, ...] = ()
    joined: str = "sum"
    bounds: tuple[float, ...] = ()

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in the order in which values are given."""
        return tuple(label.name for label in self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """
    The words of this process: label values that rows and configuration decide.

    Attributes:
        operation: Calls of a bank, by the provider port's names.
        policy: Names of the quotas.
    """

    surface: frozenset[str]
    route: frozenset[str]
    provider: frozenset[str]
    operation: frozenset[str]
    policy: frozenset[str]

    def allowed(self, label: Label) -> frozenset[str] | None:
        """Return the closed set of a label; None for a value that we alone set, at start."""
        if label.values is not None:
            return frozenset(label.values)
        words = {
            "surface": self.surface | {NONE},
            "route": self.route | {NONE},
            "provider": self.provider,
            "name": self.provider,
            "operation": self.operation,
            "policy": self.policy,
        }
        return words.get(label.name)
