"""
The interface as clients are generated from it: every operation and every schema, word by word.

A change of ``operations.json`` affects callers; `KEEP=1` writes it. Texts for people are left out,
so that they may be reworded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway.http.openapi.document import as_json, document
from gateway.http.route import Surface
from tests.world.surfaces import usual_surfaces

KEPT = Path(__file__).with_name("operations.json")
TEXTS = {"description", "summary"}


def plain(part: Any) -> Any:
    """Leave out texts for people, where a property of that name is none, and the order of names."""
    if isinstance(part, list):
        return [plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: sorted(each) if name == "required" and isinstance(each, list) else plain(each)
        for name, each in part.items()
        if name not in TEXTS or not isinstance(each, str)
    }


def digest(part: Any) -> str:
    written = json.dumps(plain(part), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()[:12]


def lines(surface: Surface) -> Iterator[tuple[str, str]]:
    """Name each operation with its right and statuses, and each schema, with the digest of it."""
    described = json.loads(as_json(document(surface, surface.name)))
    routes = [route for gate in surface.gates for route in gate.routes]
    rights = {route.name.replace(".", "_"): str(route.needs) for route in routes}
    for path, methods in described["paths"].items():
        for method, each in methods.items():
            if "operationId" in each:
                name, statuses = each["operationId"], " ".join(sorted(each["responses"]))
                yield f"{method.upper()} {path} {name}", f"{rights[name]} {statuses} {digest(each)}"
    for group, parts in described["components"].items():
        for name, each in parts.items():
            yield f"{surface.name} {group} {name}", digest(each)


def test_operations_and_schemas_are_unchanged():
    now = dict(
        line
        for surface in usual_surfaces()
        if surface.name in {"banking", "events", "sandbox", "backoffice", "identity"}
        for line in lines(surface)
    )
    if os.environ.get("KEEP"):
        KEPT.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")

    kept = json.loads(KEPT.read_text())
    changed = {name for name in now.keys() | kept.keys() if now.get(name) != kept.get(name)}

    assert changed == set(), f"if callers may see it, KEEP=1 writes {KEPT.name} anew"
