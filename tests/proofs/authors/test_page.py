"""The page for adapter authors leads from nothing to a passing suite."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from openapi_core.testing import MockRequest, MockResponse

from tests.world.authors import ROOT, Environment
from tests.world.extent import WHOLE
from tests.world.pages import Block, blocks, changed, removed

PAGE = ROOT / "docs/providers/writing-an-adapter.md"
JUDGED = ROOT / "docs/providers/testing.md"
BLOCKS = list(blocks(PAGE))


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_following_the_page_gives_an_adapter_that_passes(environment: Environment):
    """Every block in order: files, changes, commands."""
    folder = environment.folder / "pixgate-girassol"

    for block in BLOCKS:
        if block.kind == "bash":
            _run(environment, block, folder)
        elif block.file:
            block.done_in(folder)

    left = [path.name for path in folder.rglob("*.py") if "TODO" in path.read_text()]
    assert left == []


def test_every_block_with_a_file_has_a_known_kind():
    assert {each.kind for each in BLOCKS if each.file} == {"python", "diff", "remove"}


def _run(environment: Environment, block: Block, folder: Path) -> None:
    """Run each line; what would ask an index for a package installs ours instead."""
    for line in block.text.replace("\\\n", " ").splitlines():
        command = shlex.split(line)
        if command[0] == "pip":
            environment.installs(folder)
        elif command[0] == "pytest":
            environment.runs("python", "-m", *command, within=folder)
        elif not folder.exists():
            environment.runs(*command)
        else:
            environment.runs(*command, *_less(block), within=folder)


def _less(block: Block) -> tuple[str, ...]:
    """An unchanged package is verified completely by test_new_package."""
    return ("--case", "bank.settled") if "adapter new" in block.text else ()


DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "A bank", "version": "1"},
    "servers": [{"url": "https://bank.example"}],
    "paths": {
        "/balance": {
            "get": {
                "parameters": [
                    {"name": "at", "in": "query", "required": True, "schema": {"type": "string"}}
                ],
                "responses": {
                    "200": {
                        "description": "The balance.",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["total"],
                                    "properties": {"total": {"type": "integer"}},
                                }
                            }
                        },
                    }
                },
            }
        }
    },
}


@pytest.mark.parametrize(
    ("path", "query", "answer", "objections"),
    [
        ("/balance", {"at": "now"}, b'{"total": 1}', 0),
        ("/balance", {}, b'{"total": 1}', 1),
        ("/balance", {"at": "now"}, b'{"total": "1"}', 1),
        ("/other", {"at": "now"}, b"{}", 2),
    ],
)
def test_the_page_s_judge_finds_faults(
    path: str, query: dict[str, str], answer: bytes, objections: int
):
    """With the example of docs/providers/testing.md."""
    (code,) = (each.text for each in blocks(JUDGED) if each.kind == "python")
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - what the page says is what is tested

    judge = names["Judge"](DOCUMENT)
    request = MockRequest("https://bank.example", "get", path, args=query)
    found = judge.objections(request, MockResponse(answer))

    assert len(found) == objections, found


CHANGED = "a\nb\n\nc\n"


@pytest.mark.parametrize(
    ("diff", "text"),
    [
        (" a\n-b\n+x\n", "a\nx\n\nc\n"),
        (" a\n+x\n b\n", "a\nx\nb\n\nc\n"),
        ("-b\n\n c\n", "a\n\nc\n"),
        (" a\n-b\n@@\n-c\n+y\n", "a\n\ny\n"),
    ],
)
def test_a_diff_removes_and_adds_lines(diff: str, text: str):
    assert changed(CHANGED, diff) == text


@pytest.mark.parametrize("diff", [" a\n-x\n", "-d\n"])
def test_a_diff_that_does_not_fit_its_file_fails(diff: str):
    """When a template changes, the page has to follow."""
    with pytest.raises(AssertionError, match="not there once"):
        changed(CHANGED, diff)


def test_a_definition_is_removed_with_its_docstring_and_decorator():
    text = 'ONE = 1\n"""The first."""\nTWO = 2\n\n\n@cache\ndef three():\n    return 3\n'

    assert removed(text, ["ONE", "three"]).split() == ["TWO", "=", "2"]
    with pytest.raises(AssertionError, match="four"):
        removed(text, ["four"])
