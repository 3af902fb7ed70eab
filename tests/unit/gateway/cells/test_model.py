"""The file that names the cells."""

from pathlib import Path

import pytest

from gateway.cells.model import Cell, read_cells
from gateway.core.audit_context import RuleViolation

GOOD = """
map: cells.map
sockets: [/run/haproxy/admin.sock]
cells:
  south: {config: south.yaml, environment: /etc/south.env}
  north: {config: north.yaml, environment: north.env}
"""


def file_of(folder: Path, text: str) -> Path:
    file = folder / "cells.yaml"
    file.write_text(text)
    return file


def test_relative_paths_start_at_the_file_and_cells_keep_their_order(tmp_path: Path):
    found = read_cells(file_of(tmp_path, GOOD))

    assert found.map == tmp_path / "cells.map"
    assert found.sockets == (Path("/run/haproxy/admin.sock"),)
    assert [*found.cells] == ["south", "north"]
    assert found.cells["south"] == Cell(
        config=tmp_path / "south.yaml", environment=Path("/etc/south.env")
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("south:", "held:", "no cell may be called 'held'"),
        ("south:", "first:", "no cell may be called 'first'"),
        ("south:", "South:", "Expected `str` matching regex"),
        ("map: cells.map", "", "missing required field `map`"),
        ("map: cells.map", "map: 7", "a path is a text"),
        ("config: south.yaml, ", "", "missing required field `config`"),
        ("sockets:", "socket:", "unknown field `socket`"),
        ("[/run", "[[/run", "flow"),
    ],
)
def test_an_invalid_file_is_reported_in_one_line(tmp_path: Path, old: str, new: str, said: str):
    with pytest.raises(RuleViolation, match=r"cells\.yaml: ") as refused:
        read_cells(file_of(tmp_path, GOOD.replace(old, new, 1)))

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_without_cells_or_an_absent_file_is_refused(tmp_path: Path):
    with pytest.raises(RuleViolation, match="there is none"):
        read_cells(file_of(tmp_path, "map: a\ncells: {}\n"))
    with pytest.raises(RuleViolation, match="cannot be read: No such file"):
        read_cells(tmp_path / "absent.yaml")


def test_an_unknown_cell_is_refused_with_the_known_ones(tmp_path: Path):
    with pytest.raises(RuleViolation, match=r"no cell 'east' \(cells: south, north\)"):
        read_cells(file_of(tmp_path, GOOD)).named("east")
