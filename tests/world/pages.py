"""
The code blocks of a page that tells what to write, done as a reader would do them.

A block says by its first line what it is::

    ```python file=PATH          the whole file
    ```diff file=PATH            lines taken out and put in, where the others stand around them
    ```text file=PATH remove     definitions to take out, by name
    ```bash                      commands
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

_BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: file=(?P<file>\S+))?(?P<remove> remove)?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_BETWEEN = "\n@@\n"


@dataclass(frozen=True)
class Block:
    """One block; ``file`` is empty for commands and examples."""

    kind: str
    file: str
    text: str

    def done_in(self, folder: Path) -> None:
        """Write, change or shorten the file."""
        place = folder / self.file
        if self.kind == "python":
            place.write_text(self.text)
        elif self.kind == "diff":
            place.write_text(changed(place.read_text(), self.text))
        else:
            place.write_text(removed(place.read_text(), self.text.split()))


def blocks(page: Path) -> Iterator[Block]:
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        kind = "remove" if found["remove"] else found["kind"]
        yield Block(kind, found["file"] or "", found["text"])


def changed(text: str, diff: str) -> str:
    """Take out what begins with a minus, put in what begins with a plus, exactly once each."""
    for hunk in diff.rstrip("\n").split(_BETWEEN):
        lines = hunk.split("\n")
        before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
        after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
        assert f"\n{text}\n".count(f"\n{before}\n") == 1, f"not there once:\n{before}"
        text = f"\n{text}\n".replace(f"\n{before}\n", f"\n{after}\n")[1:-1]
    return text


def removed(text: str, names: Sequence[str]) -> str:
    """Take out functions, classes, methods and constants, each with what explains it."""
    lines, spans, wanted = text.split("\n"), [], set(names)
    for scope in ast.walk(ast.parse(text)):
        for node, following in _neighbours(getattr(scope, "body", [])):
            if _name(node) in wanted:
                wanted.discard(_name(node))
                spans.append(_span(node, following))
    assert wanted == set(), f"not there: {wanted}"
    for first, last in sorted(spans, reverse=True):
        del lines[first - 1 : last]
    return "\n".join(lines)


def _span(node: ast.stmt, following: ast.stmt | None) -> tuple[int, int]:
    """Return the first and last line: decorators, and the text below a constant, included."""
    constant = isinstance(node, ast.Assign | ast.AnnAssign)
    last = following if constant and isinstance(following, ast.Expr) else node
    decorated = [each.lineno for each in getattr(node, "decorator_list", [])]
    return min([node.lineno, *decorated]), last.end_lineno or last.lineno


def _neighbours(body: object) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    if isinstance(body, list):
        yield from zip_longest(body, body[1:])


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return target.id if isinstance(target, ast.Name) else ""
    return str(getattr(node, "name", ""))
