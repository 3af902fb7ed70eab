"""Pages of the API reference: partners' calls from the OpenAPI document, and error codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from gateway.core import errors, user_errors
from gateway.core.catalogue import ErrorCode
from gateway.http.openapi.document import document
from gateway.http.panel.pages.kit import PageContext, Pages
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.rendering import pretty
from gateway.http.route import Surface
from gateway.reference.open_page import PATH

_MEDIA = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """
    One documented call.

    Attributes:
        parameters: Name, place, whether it is required, and its meaning.
        request: An example of the body; empty without one.
        answers: Status, an example of the body, and the codes of refusals.
    """

    group: str
    name: str
    method: str
    path: str
    summary: str
    description: str
    parameters: Sequence[tuple[str, str, bool, str]]
    request: str
    answers: Sequence[tuple[str, str, Sequence[str]]]


class Reference:
    """The documented calls of a surface, read on first use."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    @cached_property
    def operations(self) -> Sequence[Operation]:
        """Every call, in the order of the interface; takes some 70 ms the first time."""
        described = document(self._surface, self._surface.name)
        return [
            _operation(path, method, each)
            for path, methods in described["paths"].items()
            for method, each in methods.items()
        ]


def _operation(path: str, method: str, described: Mapping[str, Any]) -> Operation:
    return Operation(
        group=described["tags"][0],
        name=described["operationId"],
        method=method.upper(),
        path=path,
        summary=described["summary"],
        description=described.get("description", ""),
        parameters=list(_parameters(described.get("parameters", ()))),
        request=_example(described.get("requestBody", {})),
        answers=list(_answers(described["responses"])),
    )


def _parameters(described: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str, bool, str]]:
    """Drop parameters that every call has."""
    for each in described:
        if "$ref" not in each:
            yield each["name"], each["in"], each.get("required", False), each.get("description", "")


def _answers(described: Mapping[str, Any]) -> Iterable[tuple[str, str, Sequence[str]]]:
    """Add each status's codes; only the successful one has an example."""
    for status, answer in described.items():
        codes = _CODE.findall(answer["description"])
        if codes:
            yield status, "", list(dict.fromkeys(codes))
        else:
            yield status, _example(answer), ()


_CODE: Final = re.compile(r"^- `([^`]+)`: ", re.MULTILINE)
"""A code in the description of a refusal; its meaning stands behind it."""


def _example(described: Mapping[str, Any]) -> str:
    content = described.get("content", {}).get(_MEDIA, {})
    examples = content.get("examples", {})
    first = next((each["value"] for each in examples.values()), None)
    found = content.get("example", first)
    return "" if found is None else pretty(found).decode()


_PARTNERS: Final = tuple(each for each in errors.CATALOGUE if each not in errors.ELSEWHERE)
_PEOPLE: Final = (
    *(each for each in errors.CATALOGUE if each in errors.ELSEWHERE),
    *user_errors.CATALOGUE,
)


def pages(reference: Reference, context: PageContext, *, is_open: bool) -> Sequence[Page]:
    """
    Return the pages, which everybody who is signed in may read.

    With ``is_open`` they lead to the reference that needs no sign-in.
    """
    panel = Pages("", context)

    @panel.view("/errors", "errors", None)
    async def error_codes(visit: Visit) -> Result:
        """Show every error code, its meaning and its remedy."""
        wanted = visit.query("q").casefold()

        def fits(each: ErrorCode) -> bool:
            return wanted in f"{each.code} {each.status} {each.message}".casefold()

        data = {"partners": [*filter(fits, _PARTNERS)], "people": [*filter(fits, _PEOPLE)]}
        return Shown(template="service/errors.html", data=data)

    @panel.view("/reference", "reference", None)
    async def calls(_visit: Visit) -> Result:
        """Show the calls of the partners' interface."""
        groups: dict[str, list[Operation]] = {}
        for each in reference.operations:
            groups.setdefault(each.group, []).append(each)
        data = {"parts": groups, "open_page": PATH if is_open else ""}
        return Shown(template="service/reference.html", data=data)

    return panel.pages
