"""Declarations of metrics: name, labels, and label values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

from gateway.telemetry.metrics.cells import Counter, Gauge, Histogram

OTHER: Final = "_OTHER"
"""Stands for every label value outside of its set, so that no caller can add series."""
NONE: Final = "none"
"""Surface and route of a request that never reached one."""

Child = TypeVar("Child", bound=Counter | Gauge | Histogram)
Key = tuple[str, ...]
"""Label values in the order of the family's labels."""


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
class Family(Generic[Child]):
    """
    One metric as documented.

    Attributes:
        name: With prefix and unit, as scraped.
        metric: Class of each of its series.
        joined: How a query joins the values of several processes: ``sum``, ``max`` or
            ``min``.
        bounds: Upper bounds of a histogram's buckets, in seconds.
    """

    name: str
    metric: type[Child]
    meaning: str
    labels: tuple[Label, ...] = ()
    joined: str = "sum"
    bounds: tuple[float, ...] = ()

    @property
    def kind(self) -> str:
        """Its type: ``counter``, ``gauge`` or ``histogram``."""
        return self.metric.__name__.lower()

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in the order in which values are given."""
        return tuple(label.name for label in self.labels)

    def begin(self) -> Child:
        """Begin a series at zero."""
        return cast("Child", Histogram(self.bounds)) if self.bounds else self.metric()


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """
    Label values of this process that routes and configuration determine.

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
        """Return the closed set of a label; None for a value set at start."""
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
