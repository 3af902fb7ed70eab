"""
``make architecture``: writes the measured parts of docs/architecture.md anew.

Each part stands between two comments of its name, which the page keeps.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from tests.architecture import figures, walk
from tests.architecture.walk import Walk
from tests.world.tree import ROOT

PAGE = ROOT / "docs" / "architecture.md"


def parts(walks: Mapping[str, Walk]) -> dict[str, str]:
    """Return each measured part by its name."""
    counts = [
        f"| {name} | {len(each.files)} | {len(each.functions)} | {each.changes} |"
        for name, each in walks.items()
    ]
    head = ["| | Files | Functions | Changes of file |", "| --- | --- | --- | --- |"]
    lists = {name: walk.table(each) for name, each in walks.items()}
    return {"counts": "\n".join([*head, *counts]), "figures": figures.table(), **lists}


def filled(page: str, measured: Mapping[str, str]) -> str:
    """Put each part between its comments."""
    for name, text in measured.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        between = re.compile(f"{begin}.*?{end}", re.DOTALL)
        page = between.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", page)  # noqa: B023 - used at once
    return page


def listed(page: str, name: str) -> list[str]:
    """Return the files that the page lists in a part."""
    part = page.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]
    return re.findall(r"^\| \d+ \| `([^`]+)`", part, re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), parts(walk.walks())), encoding="utf-8")
    sys.exit(0)
