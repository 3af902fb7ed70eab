"""A page for each error code, at an address that stays, and the way to it from the list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.app.commands.catalogue import EVERY_CODE

_CODE_ROW: Final = re.compile(r"^\| `([\w.]+)` \| (?=\d{3} )", re.MULTILINE)
_TO_CODE: Final = r"| [`\1`](errors/\1.md) | "
_ANSWERED: Final = re.compile(r"^- `([^`]+)`: ", re.MULTILINE)
_EVERY_CALL: Final = ("SVC.GTW.", "SVC.SYS.")


def with_links(errors: str) -> str:
    """Lead each code in the table of all codes to its page."""
    return _CODE_ROW.sub(_TO_CODE, errors)


def pages(described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Write a page for each error code: its statuses and meanings, and the calls it is of."""
    codes = {each.code: [one for one in EVERY_CODE if one.code == each.code] for each in EVERY_CODE}
    for code, meanings in codes.items():
        parts = [f"# {code}"]
        for status in dict.fromkeys(each.status for each in meanings):
            parts.append(f"## {status}")
            parts += [
                f"**{each.message}** {each.remedy}" for each in meanings if each.status == status
            ]
        calls = list(_calls(code, described))
        if code.startswith(_EVERY_CALL) and calls:
            parts += ["## Calls", "Any call."]
        elif calls:
            parts += ["## Calls", "\n".join(calls)]
        parts.append("[All error codes](../errors.md)")
        yield f"errors/{code}.md", "\n\n".join(parts) + "\n"


def _calls(code: str, described: Mapping[str, Any]) -> Iterator[str]:
    for name, document in described.items():
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                statuses = [
                    status
                    for status, answer in operation["responses"].items()
                    if code in _ANSWERED.findall(answer["description"])
                ]
                if statuses:
                    anchor = operation["operationId"]
                    summary = operation["summary"].removesuffix(".")
                    call = f"[{summary}](../reference/{name}.md#{anchor})"
                    yield f"- {call}: `{method.upper()} {path}`, {', '.join(statuses)}"
