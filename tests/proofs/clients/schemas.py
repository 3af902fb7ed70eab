"""
The types of the TypeScript client, made of our documents; ``make client-types`` writes them.

Amounts and the banks' numbers are text in that client: it reads no number but the counts of a list
into a binary float.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from gateway.http.openapi.document import as_json
from tests.servers.clients import Programs, programs
from tests.world.documents import SURFACES

CLIENT = Path(__file__).parents[3] / "clients/typescript"
WRITTEN = CLIENT / "src/schemas.ts"
COUNTS = ("page", "limit", "total")
"""Named in ``src/json.ts`` too."""
HEAD = "// Written by `make client-types` from the OpenAPI documents; a test compares them.\n"


def as_read(part: Any, name: str = "") -> Any:
    """Return a schema as the client reads it: numbers are text, but for counts."""
    if isinstance(part, list):
        return [as_read(each, name) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") in ("integer", "number") and name not in COUNTS:
        texts = {word: part[word] for word in ("description",) if word in part}
        return {"type": "string", **texts}
    return {word: as_read(each, word) for word, each in part.items()}


def document() -> dict[str, Any]:
    """Return the schemas of the partners' two documents, without their calls."""
    schemas: dict[str, Any] = {}
    for surface in ("banking", "events"):
        schemas |= json.loads(as_json(SURFACES[surface].document))["components"]["schemas"]
    return {
        "openapi": "3.1.0",
        "info": {"title": "pixgate", "version": "1"},
        "paths": {},
        "components": {"schemas": as_read(schemas)},
    }


def types(tools: Programs) -> str:
    """Return the module as openapi-typescript writes it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "read.json").write_text(json.dumps(document()))
        subprocess.run(
            [
                *(str(tools.openapi_typescript), "read.json", "-o", "schemas.ts"),
                *("--root-types", "--root-types-no-schema-prefix"),
            ],
            cwd=folder,
            env=tools.environment,
            capture_output=True,
            check=True,
        )
        text = (Path(folder) / "schemas.ts").read_text("utf-8")
    return HEAD + text


if __name__ == "__main__":
    WRITTEN.write_text(types(programs()), "utf-8")
