"""The dispatch table: a path into its rows, one dictionary step per segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from gateway.http.route import Gate, Row, Surface

_PARAMETER = "{}"


@dataclass(frozen=True, slots=True)
class Place:
    """A row with what stands in front of it."""

    surface: Surface
    gate: Gate[Any]
    row: Row[Any]
    template: str


@dataclass(slots=True)
class _Node:
    """One segment: what follows it, and the rows that end here by method."""

    next: dict[str, _Node] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a path by method, and its parameters."""

    places: Mapping[str, Place]
    path: Mapping[str, str]

    @property
    def allow(self) -> str:
        """The value of an Allow header."""
        return ", ".join(sorted(self.places))


class Table:
    """
    Every row of every surface.

    Parameters match one non-empty segment and are decoded once: a slash that
    was sent as ``%2F`` is part of the value. A trailing or doubled slash is
    another path. Bytes that are not UTF-8 become lone surrogates.
    """

    def __init__(self, surfaces: Iterable[Surface]) -> None:
        """Enter every row; two rows of one method and path are a mistake of ours."""
        self._root = _Node()
        for surface in surfaces:
            for gate in surface.gates:
                for row in gate.rows:
                    self._enter(Place(surface, gate, row, surface.prefix + row.path))

    def find(self, raw_path: str) -> Found | None:
        """Return the rows of a percent-encoded path; None when there are none."""
        node = self._root
        values: list[str] = []
        for segment in raw_path.split("/"):
            step = node.next.get(segment)
            if step is None:
                step = node.next.get(_PARAMETER) if segment else None
                if step is None:
                    return None
                values.append(_decoded(segment))
            node = step
        if not node.places:
            return None
        return Found(node.places, dict(zip(node.names, values, strict=True)))

    def places(self) -> list[Place]:
        """Return every row once, as declared."""
        return [place for node in self._walk(self._root) for place in _declared(node)]

    def _walk(self, node: _Node) -> Iterable[_Node]:
        """Visit every node."""
        yield node
        for following in node.next.values():
            yield from self._walk(following)

    def _enter(self, place: Place) -> None:
        """Enter one row; GET answers HEAD too."""
        node = self._root
        names = []
        for segment in place.template.split("/"):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                node = node.next.setdefault(_PARAMETER, _Node())
            else:
                node = node.next.setdefault(segment, _Node())
        methods = ["GET", "HEAD"] if place.row.method == "GET" else [place.row.method]
        if not node.places.keys().isdisjoint(methods):
            problem = f"{place.row.method} {place.template} is declared twice"
            raise ValueError(problem)
        node.names = tuple(names)
        node.places.update(dict.fromkeys(methods, place))


def _declared(node: _Node) -> list[Place]:
    """Return the rows of a node without the HEAD that GET brings along."""
    return [place for method, place in node.places.items() if method == place.row.method]


def _decoded(segment: str) -> str:
    """Decode a segment once."""
    if "%" not in segment:
        return segment
    return unquote(segment, encoding="utf-8", errors="surrogateescape")
