"""The dispatch table from paths to routes, and the rules for every route."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import msgspec

from gateway.core.calls import Policy
from gateway.http.route import Gate, Refuse, Route, Surface
from policies.traffic.csrf import (
    CsrfToken,
    FormFromOurPage,
    OpensOurPage,
    ReadFromOurPage,
    WriteFromOurPage,
)
from policies.validation.forms import FormBody


@dataclass(frozen=True, slots=True)
class PlacedRoute:
    """
    A route with its gate.

    Attributes:
        fixed: Parameters whose value is a word of another route's template: a
            payout may be called ``pix`` and still be read.
    """

    surface: Surface
    gate: Gate[Any]
    route: Route[Any]
    template: str
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Node:
    """
    One segment.

    Attributes:
        next: The next segments, by the words of our templates.
        parameter: The node for any other segment.
        places: The routes that end here, by method.
        names: Of the parameters on the way here.
    """

    next: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    places: dict[str, PlacedRoute] = field(default_factory=dict)
    names: tuple[str, ...] = ()


class Found(msgspec.Struct, frozen=True):
    """The routes of a path by method, and its parameters."""

    places: Mapping[str, PlacedRoute]
    path: Mapping[str, str]

    @property
    def allow(self) -> str:
        """The value of an Allow header."""
        return ", ".join(sorted(self.places))


class Table:
    """
    Every route of every surface.

    Parameters match one non-empty segment and are decoded once: a slash that
    was sent as ``%2F`` is part of the value. A trailing or doubled slash is
    another path. Bytes that are not UTF-8 become lone surrogates.
    """

    def __init__(self, surfaces: Iterable[Surface]) -> None:
        """Enter every route; two routes of one method and path are a programming error."""
        self._root = _Node()
        every = tuple(surfaces)
        self._explaining = tuple(each.prefix + "/" for each in every if each.explains)
        self._pages = [(each.prefix + "/", each.refuse) for each in every if each.refuse]
        self._knowing = [(each.prefix + "/", each.knows) for each in every if each.knows]
        for surface in every:
            for gate in surface.gates:
                for route in gate.routes:
                    self._enter(PlacedRoute(surface, gate, route, surface.prefix + route.path))
        for node in self._walk(self._root):
            _share(node)

    def find(self, raw_path: str) -> Found | None:
        """Return the routes of a percent-encoded path; None without any."""
        node = self._root
        values: list[str] = []
        for segment in raw_path.split("/"):
            step = node.next.get(segment)
            if step is None:
                step = node.parameter if segment else None
                if step is None:
                    return None
                values.append(_decoded(segment) if "%" in segment else segment)
            node = step
        if not node.places:
            return None
        return Found(node.places, dict(zip(node.names, values, strict=True)))

    def explains(self, raw_path: str, place: PlacedRoute | None) -> bool:
        """Return whether refusals name field and reason; unknown paths go by prefix."""
        if place is not None:
            return place.surface.explains
        return raw_path.startswith(self._explaining)

    def refuse(
        self, raw_path: str, place: PlacedRoute | None, *, wants_page: bool
    ) -> Refuse | None:
        """Return the page renderer of refusals; unknown paths go by prefix."""
        if place is not None:
            return place.surface.refuse
        if not wants_page:
            return None
        return next((each for prefix, each in self._pages if raw_path.startswith(prefix)), None)

    def knows(self, raw_path: str) -> Sequence[Policy]:
        """Return the caller's identification for an unknown path, by prefix."""
        return next((each for prefix, each in self._knowing if raw_path.startswith(prefix)), ())

    def places(self) -> list[PlacedRoute]:
        """Return every route once, as declared."""
        return [place for node in self._walk(self._root) for place in _declared(node)]

    def _walk(self, node: _Node) -> Iterable[_Node]:
        yield node
        for following in (*node.next.values(), node.parameter):
            if following is not None:
                yield from self._walk(following)

    def _enter(self, place: PlacedRoute) -> None:
        """Enter one route; GET answers HEAD too."""
        node = self._root
        names = []
        for segment in place.template.split("/"):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.next.setdefault(segment, _Node())
        methods = ["GET", "HEAD"] if place.route.method == "GET" else [place.route.method]
        if not node.places.keys().isdisjoint(methods):
            problem = f"{place.route.method} {place.template} is declared twice"
            raise ValueError(problem)
        node.names = tuple(names)
        node.places.update(dict.fromkeys(methods, place))


def _declared(node: _Node) -> list[PlacedRoute]:
    """Return a node's own routes, without implied HEAD and shared routes."""
    return [
        place
        for method, place in node.places.items()
        if method == place.route.method and not place.fixed
    ]


def _share(node: _Node) -> None:
    """Copy the routes of a parameter to a sibling word that lacks their methods."""
    beside = node.parameter
    if beside is None or not beside.places:
        return
    for word, following in node.next.items():
        if following.places:
            fixed = {beside.names[-1]: word}
            shared = {way: replace(each, fixed=fixed) for way, each in beside.places.items()}
            following.places = shared | following.places


def _decoded(segment: str) -> str:
    return unquote(segment, encoding="utf-8", errors="surrogateescape")


_COOKIE = "session"
_READING = frozenset({"GET", "HEAD"})


def check_surfaces(surfaces: Iterable[Surface]) -> list[str]:
    """
    Return a line for each route that must not be served.

    Without a permission, a limit or a declared failure; or behind a cookie
    without the layers against forged requests.
    """
    return [
        f"{route.name}: {problem}"
        for surface in surfaces
        for gate in surface.gates
        for route in gate.routes
        for problem in _problems(surface, gate, route)
    ]


def _problems(surface: Surface, gate: Gate[Any], route: Route[Any]) -> Iterable[str]:
    if route.needs is None and not gate.opens:
        yield "no permission"
    if route.needs is not None and not gate.policies:
        yield "a permission that no policy asks for"
    if route.needs is not None and not route.fails:
        yield "no declared failure"
    if (route.takes.body is None) is not (route.limits.body_bytes == 0):
        yield "a body without a limit, or a limit without a body"
    if route.limits.body_bytes > surface.body_bytes:
        yield "a body larger than its surface takes"
    if gate.scheme == _COOKIE and not _is_guarded(gate, route):
        yield "a cookie without its guards against forged requests"


def _is_guarded(gate: Gate[Any], route: Route[Any]) -> bool:
    """Return whether a cookie gate checks the origin, and the token of writes."""
    asked = {type(policy) for policy in gate.policies}
    if route.method in _READING:
        return bool(asked & {ReadFromOurPage, WriteFromOurPage, OpensOurPage})
    if route.takes.body is FormBody:
        return FormFromOurPage in asked
    return {WriteFromOurPage, CsrfToken} <= asked
