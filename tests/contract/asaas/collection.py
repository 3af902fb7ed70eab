"""The bank's own collection of requests, as the judge of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

FOLDER = Path(__file__).parents[2] / "vectors/documents/asaas"


@dataclass(frozen=True, slots=True)
class Operation:
    """
    A call of the bank.

    Attributes:
        steps: Of the path; a step in braces stands for any.
        fields: The body's places, such as ``bankAccount.bank.code``, and what stands there.
    """

    method: str
    steps: tuple[str, ...]
    queries: frozenset[str]
    fields: Mapping[str, str]

    def matches(self, method: str, steps: Sequence[str]) -> bool:
        return (
            method == self.method
            and len(steps) == len(self.steps)
            and all(
                bool(is_) if known.startswith("{") else is_ == known
                for is_, known in zip(steps, self.steps, strict=True)
            )
        )


@dataclass(frozen=True, slots=True)
class Collection:
    """Every call, and the header of the key."""

    operations: Sequence[Operation]
    key_header: str

    def violations(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> list[str]:
        """Tell what the bank's collection has not of a request; header names in small letters."""
        parts = urlsplit(target)
        steps = _steps(parts.path)
        known = [each for each in self.operations if each.matches(method, steps)]
        if not known:
            return [f"{method} {parts.path} is no call"]
        queries = frozenset().union(*(each.queries for each in known))
        asked = parse_qsl(parts.query, keep_blank_values=True)
        found = [f"query {name}" for name, _ in asked if name not in queries]
        found += [f"no {name}" for name in (self.key_header, "user-agent") if not headers.get(name)]
        return found + list(_of_body(method, headers, body, known))


def corrected() -> Collection:
    """Read the collection, and what the bank's newer SDK adds to it."""
    collection = json.loads((FOLDER / "asaas-postman-4058cc7.json").read_bytes())
    corrections = json.loads((FOLDER / "corrections.json").read_bytes())
    operations = [_operation(each) for each in _requests(collection["item"])]
    operations += [
        Operation(
            method=each["method"],
            steps=_steps(each["path"]),
            queries=frozenset(each.get("query", ())),
            fields=dict(_places(each.get("body", {}))),
        )
        for each in corrections["added"]
    ]
    (header,) = (each["value"] for each in collection["auth"]["apikey"] if each["key"] == "key")
    return Collection(operations, header.lower())


def _requests(items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for each in items:
        if "item" in each:
            yield from _requests(each["item"])
        else:
            yield each["request"]


def _operation(request: Mapping[str, Any]) -> Operation:
    url = request["url"]
    raw = url if isinstance(url, str) else url["raw"]
    named = [] if isinstance(url, str) else url.get("query", [])
    body = request.get("body", {})
    example = json.loads(body["raw"]) if body.get("mode") == "raw" and body["raw"].strip() else {}
    return Operation(
        method=request["method"],
        steps=_steps(raw.partition("?")[0].removeprefix("{{domain}}")),
        queries=frozenset(unquote(each["key"]) for each in named if each["key"]),
        fields=dict(_places(example)),
    )


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.removesuffix("/").split("/")[1:])


def _places(value: object, at: str = "") -> Iterator[tuple[str, str]]:
    """Name every path of a document and its value."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _places(each, f"{at}.{name}" if at else name)
    elif at:
        kind = type(value).__name__
        yield at, "number" if kind in {"int", "float"} else kind


def _of_body(
    method: str, headers: Mapping[str, str], body: bytes, known: Sequence[Operation]
) -> Iterator[str]:
    if method in {"GET", "DELETE"}:
        if body:
            yield f"a {method} has no body"
        return
    if headers.get("content-type", "").partition(";")[0] != "application/json":
        yield "a body is application/json"
    yield from _of_fields(json.loads(body), known)


def _of_fields(document: object, known: Sequence[Operation]) -> Iterator[str]:
    places: dict[str, set[str]] = {}
    for each in known:
        for place, kind in each.fields.items():
            places.setdefault(place, set()).add(kind)
    for place, kind in _places(document):
        if place not in places:
            yield f"field {place}"
        elif kind not in places[place]:
            yield f"field {place} is a {' or '.join(sorted(places[place]))} and not a {kind}"
