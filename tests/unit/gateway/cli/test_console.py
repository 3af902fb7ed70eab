"""How commands print and fail."""

import io
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import click
import pytest

from gateway.cli.console import Terminal, reading
from gateway.cli.os_user import os_user
from gateway.core.audit_context import RuleViolation
from gateway.core.schemas import instant
from gateway.core.storage import StoreUnavailable

ROWS = [{"id": "1", "on": True, "of": ["a", "b"], "at": ""}, {"id": "22", "on": False, "of": []}]


def terminal(*, as_json: bool = False, by: str = "") -> Terminal:
    return Terminal(config=Path("config.yaml"), as_json=as_json, by=by)


def test_one_record_is_printed_as_aligned_fields(capsys):
    terminal().show({"id": "1", "name": "Padaria", "gone": None})

    assert capsys.readouterr().out == "id    1\nname  Padaria\ngone  -\n"


def test_several_records_are_printed_as_a_table(capsys):
    terminal().show_all(ROWS, ("id", "on", "of"))

    assert capsys.readouterr().out == "id  on   of\n1   yes  a b\n22  no   -\n"


def test_an_empty_table_is_printed_with_its_head(capsys):
    terminal().show_all([], ("id", "name"))

    assert capsys.readouterr().out == "id  name\n"


class Pipe(io.RawIOBase):
    """A standard output that records every single write."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data, /) -> int:
        self.writes.append(bytes(data))
        return len(data)


@pytest.mark.parametrize("letters", [1, 8_000, 100_000])
def test_a_document_and_its_newline_are_written_at_once(monkeypatch, letters: int):
    """Otherwise a log line on the same standard output could come between them."""
    pipe = Pipe()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(pipe)))

    terminal(as_json=True).show({"name": "x" * letters})

    [document] = pipe.writes
    assert document.endswith(b"}\n")


def test_json_output_has_every_field(capsys):
    terminal(as_json=True).show_all([{"id": "1", "name": "São"}], ("id",))

    assert capsys.readouterr().out == '[\n  {\n    "id": "1",\n    "name": "São"\n  }\n]\n'


def test_the_actor_is_the_named_user_or_the_system_s():
    assert (terminal().actor, terminal(by="joana").actor) == (f"cli:{os_user()}", "joana")


def test_an_instant_is_written_in_utc():
    eastward = timezone(timedelta(hours=3))

    assert instant(datetime(2026, 11, 20, 1, tzinfo=eastward)) == "2026-11-19T22:00:00Z"
    assert instant(datetime(2026, 11, 20, 1, 2, 3, 999999, tzinfo=UTC)) == "2026-11-20T01:02:03Z"
    assert instant(None) == ""


@pytest.mark.parametrize(
    ("problem", "line"),
    [(RuleViolation("no company 1"), "no company 1"), (StoreUnavailable("x"), "does not answer")],
    ids=str,
)
def test_an_error_the_operator_can_fix_is_one_line(problem: Exception, line: str):
    @reading
    def refused(_terminal: Terminal) -> None:
        raise problem

    with pytest.raises(click.ClickException, match=line):
        refused(config=Path("config.yaml"), as_json=False)
