"""
Records that processes cache are changed only together with an audit event.

All statements on the tables of cached records are found. Each is in a transaction that also appends
to the audit log, from which every process learns what to drop, or is passed to
``audit_log.change``, which makes such a transaction.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.world.stores.told import WRITERS
from tests.world.tree import ROOT, modules

TABLES = {"accounts", "credentials", "secrets", "stops", "signing_keys"}
WRITING = {"insert", "update", "delete", "insert_new", "add", "insert_or_change", "put"}
UNTOLD = {"StoredCredentials.touch": "when a secret was last used; nothing goes by it"}
BY_HAND = re.compile(
    r"\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+"
    r"(accounts|credentials|credential_secrets|payout_stops|stops|signing_keys)\b",
    re.IGNORECASE,
)

NAMED = re.compile(r"\b(" + "|".join([*TABLES, "credential_secrets", "payout_stops"]) + r")\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> list[Path]:
    """
    Modules that name one of the tables.

    Without the schema, and the sandbox bank, which has accounts of its own.
    """
    return [
        path
        for path in modules()
        if path.parts[0] == "gateway"
        and "migrations" not in path.parts
        and NAMED.search((ROOT / path).read_text())
    ]


def functions_of(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Every function of a module by the name it has there."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, Function):
                    yield f"{node.name}.{each.name}", each


def called(node: ast.Call) -> str:
    """The last word of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def writes(tree: ast.AST) -> bool:
    """Say whether a statement on one of the tables is made there."""
    return any(
        called(call) in WRITING
        and any(isinstance(each, ast.Name) and each.id in TABLES for each in call.args)
        for call in calls(tree)
    )


def is_told(call: ast.Call) -> bool:
    """Say whether a call appends to the audit log, and not to a list."""
    return called(call) == "append" and "audit" in ast.unparse(call.func)


def tells(function: Function) -> bool:
    """Say whether its transaction appends to the audit log."""
    if any(ast.unparse(call.func) == "audit_log.change" for call in calls(function)):
        return True
    return any(
        "writing" in {called(call) for item in block.items for call in calls(item)}
        and any(is_told(call) for each in block.body for call in calls(each))
        for block in ast.walk(function)
        if isinstance(block, ast.AsyncWith)
    )


def writers(tree: ast.Module) -> set[str]:
    """Functions that write by themselves, or by a function of the module that they call."""
    named = dict(functions_of(tree))
    found = {name for name, function in named.items() if writes(function)}
    while True:
        words = {name.rpartition(".")[2] for name in found if "." not in name}
        more = {
            name
            for name, function in named.items()
            if name not in found and words & {called(call) for call in calls(function)}
        }
        if not more:
            return found
        found |= more


@cache
def entrances() -> dict[str, Function]:
    """Methods that change cached records, by their names, each with the functions that it calls."""
    found = {}
    for path in sources():
        tree = ast.parse((ROOT / path).read_text())
        named = dict(functions_of(tree))
        found |= {name: named[name] for name in writers(tree) if "." in name}
    return found


def test_every_statement_on_cached_records_is_beside_an_audit_event():
    silent = {name for name, function in entrances().items() if not tells(function)}

    assert silent == set(UNTOLD)


def test_every_writer_of_cached_records_is_in_the_store_contract():
    """The store contract suite runs each of them."""
    assert set(entrances()) - set(UNTOLD) == set(WRITERS)


def test_cached_records_are_written_in_store_methods_alone():
    """Elsewhere the transaction is not visible."""
    loose = {}
    for path in sources():
        tree = ast.parse((ROOT / path).read_text())
        inside = dict(functions_of(tree))
        callers = {called(call) for function in inside.values() for call in calls(function)}
        loose[str(path)] = {
            ast.unparse(node)[:60]
            for node in tree.body
            if not isinstance(node, Function | ast.ClassDef) and writes(node)
        } | {name for name in writers(tree) if "." not in name and name not in callers}

    assert {path: found for path, found in loose.items() if found} == {}


def test_no_statement_on_cached_records_is_handwritten_sql():
    by_hand = [str(path) for path in sources() if BY_HAND.search((ROOT / path).read_text())]

    assert by_hand == []
