"""The API reference: each OpenAPI document as Markdown, its calls, then its shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from contents import COLLECTION, DOCUMENTS

from gateway.app.commands.catalogue import EVERY_CODE

_JSON: Final = "application/json"
_CODE: Final = re.compile(r"^- `([^`]+)`: ", re.MULTILINE)
"""A code in the description of a refusal; its meaning stands behind it."""
Schema = Mapping[str, Any]


def pages(described: Mapping[str, Schema]) -> Iterator[tuple[str, str]]:
    """Write a page for each document, and the one that leads to them."""
    codes = frozenset(each.code for each in EVERY_CODE)
    for name, document in described.items():
        where = f"The same for programs: [OpenAPI 3.1]({name}.openapi.json)."
        yield f"reference/{name}.md", _page(document, codes, where)
    rows = [
        f"| [{_title(document)}]({name}.md) | {document['info']['description'].partition(':')[0]}"
        f" | [openapi.json]({name}.openapi.json), `{DOCUMENTS[name]}` |"
        for name, document in described.items()
    ]
    yield "reference/index.md", "\n".join([*_ABOUT, *rows]) + "\n"


_ABOUT: Final = (
    "# API reference",
    "",
    "Written from the OpenAPI documents of the gateway. Where the operator sets `server.openapi`,",
    "the gateway serves the documents too, with its own address in them, and `/docs/api` tries",
    "the calls of partners in the browser. Every call takes `X-Trace-ID` and `traceparent`, and",
    "every refusal has the body `Error`: its codes stand beside each status.",
    "",
    f"The banking calls are also [a Postman collection]({COLLECTION}): import it, and set its",
    "variables `base_url`, `client_id`, `client_secret`, `account_id`, and for calls that need",
    "one `charge_reference` and `key_id`. A payout gets a new `payout_reference` when that is",
    "empty.",
    "",
    "| Interface | What it is | Document |",
    "| --- | --- | --- |",
)


def _page(document: Schema, codes: frozenset[str], intro: str) -> str:
    parts = [f"# {_title(document)} API", intro, document["info"]["description"]]
    for tag in document["tags"]:
        parts += [f"## {tag['name']}", tag["description"]]
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if operation["tags"] == [tag["name"]]:
                    parts += _operation(f"{method.upper()} {path}", operation, codes)
    parts.append("## Shapes")
    for name, schema in document["components"]["schemas"].items():
        parts += _shape(name, schema)
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(document: Schema) -> str:
    """Return the name of the interface, such as ``Back office``."""
    return str(document["info"]["title"]).removeprefix("pixgate ").capitalize()


def _operation(call: str, operation: Schema, codes: frozenset[str]) -> Iterator[str]:
    yield f"### {operation['summary'].removesuffix('.')} {{ #{operation['operationId']} }}"
    yield f"`{call}`"
    yield operation.get("description", "")
    yield _parameters(each for each in operation["parameters"] if "$ref" not in each)
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]
        yield f"**Body:** {_bodies(content)}"
        yield from _examples(content)
    yield "**Answers**"
    rows = [
        f"| {status} | {_meaning(answer, codes)} |"
        for status, answer in operation["responses"].items()
    ]
    yield "\n".join(["| Status | Meaning |", "| --- | --- |", *rows])
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield from _examples(answer.get("content", {}), f" of {status}")


def _parameters(described: Iterable[Schema]) -> str:
    rows = [
        f"| `{each['name']}` | {each['in']} | {_type(each['schema'])} | {_yes(each)}"
        f" | {_cell(each.get('description', ''))} |"
        for each in described
    ]
    head = ["| Parameter | In | Type | Required | Meaning |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *rows]) if rows else ""


def _yes(described: Schema) -> str:
    return "yes" if described.get("required") else ""


def _bodies(content: Schema) -> str:
    return ", ".join(
        (f"`{media}`, " if media != _JSON else "") + _type(each.get("schema", {}))
        for media, each in content.items()
    )


def _meaning(answer: Schema, codes: frozenset[str]) -> str:
    """Return the body of an answer, or its codes."""
    found = dict.fromkeys(_CODE.findall(answer["description"]))
    if found:
        return ", ".join(
            f"[`{code}`](../errors/{code}.md)" if code in codes else f"`{code}`" for code in found
        )
    return _bodies(answer["content"]) if "content" in answer else _cell(answer["description"])


def _examples(content: Schema, of: str = "") -> Iterator[str]:
    """Write the examples of JSON; files are described by their type alone."""
    body = content.get(_JSON, {})
    shown = {word: each["value"] for word, each in body.get("examples", {}).items()}
    if "example" in body:
        shown = {"": body["example"]}
    for word, value in shown.items():
        name = f"Example{of}: {word}" if word else f"Example{of}"
        yield f"{name}\n\n```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"


def _shape(name: str, schema: Schema) -> Iterator[str]:
    yield f"### {name} {{ #{_anchor(name)} }}"
    yield _cell(schema.get("description", ""))
    choice = schema.get("oneOf", ())
    if choice:
        yield f"One of {', '.join(map(_type, choice))}."
    required = schema.get("required", ())
    rows = [
        f"| `{field}` | {_type(each)} | {'yes' if field in required else ''}"
        f" | {_cell(each.get('description', ''))} |"
        for field, each in schema.get("properties", {}).items()
    ]
    if rows:
        head = ["| Field | Type | Required | Meaning |", "| --- | --- | --- | --- |"]
        yield "\n".join([*head, *rows])


def _type(schema: Schema) -> str:
    """Return the type of a value in a few words; a component is a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})"
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[several])))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    words = kind if isinstance(kind, str) else " or ".join(kind)
    return f"{words} ({schema['format']})" if "format" in schema else words


def _anchor(shape: str) -> str:
    """Return the anchor of a shape, which no group or call has."""
    return f"shape-{shape}"


def _cell(text: str) -> str:
    """Write a text into a cell of a table, on one line."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
