"""``pixgate cells`` on two stores that are files; ``tests/proofs`` moves between two servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cells.routing import read_map
from tests.world.commands import SHORT
from tests.world.shell import Shell
from tests.world.store import migrated

NAMES = ("north", "south")


@pytest.fixture
def cells(tmp_path: Path) -> dict[str, Shell]:
    """A command line of each cell; each has a company with a credential."""
    found = {}
    for name in NAMES:
        migrated(tmp_path / name / "pixgate.db")
        found[name] = Shell(tmp_path / name, {**SHORT})
        variables = f"PIXGATE_VAR='{tmp_path / name}'\nPIXGATE_ORIGIN='https://{name}.example'\n"
        (tmp_path / f"{name}.env").write_text(variables)
    described = "".join(
        f"  {name}: {{config: '{SHORT['PIXGATE_CONFIG']}', environment: {name}.env}}\n"
        for name in NAMES
    )
    (tmp_path / "cells.yaml").write_text(f"map: cells.map\ncells:\n{described}")
    return found


def typed(folder: Path, *words: str) -> tuple[str, ...]:
    return ("cells", *words, "--cells", str(folder / "cells.yaml"))


def client(shell: Shell) -> str:
    """Make a company with a credential; return its client id."""
    company = shell.reads("company", "create", "--name", "C")["id"]
    made = ("--company", company, "--name", "ERP", "--permission", "balance:read")
    return str(shell.reads("credential", "issue", *made)["client_id"])


def test_a_map_is_written_and_an_outdated_one_is_reported(cells: dict[str, Shell], tmp_path: Path):
    north, south = (client(cells[name]) for name in NAMES)

    said = cells["north"].reads(*typed(tmp_path, "map"))

    entries = read_map(tmp_path / "cells.map")
    assert said == {
        "map": str(tmp_path / "cells.map"),
        "entries": len(entries),
        "in_force": "after a reload of HAProxy",
    }
    assert (entries[north], entries[south]) == NAMES
    assert (entries["north.example"], entries["south.example"]) == NAMES
    # a token of each of the two providers
    assert len(entries) == len({"first", north, south, *NAMES}) + 2 * len(NAMES)
    assert cells["north"].reads(*typed(tmp_path, "map", "--check"))["different"] == 0
    client(cells["south"])
    done = cells["north"].run(*typed(tmp_path, "map", "--check"))
    assert (done.exit_code, "different  1" in done.stdout) == (1, True)
    assert read_map(tmp_path / "cells.map") == entries


def test_an_unusable_cell_is_named(cells: dict[str, Shell], tmp_path: Path):
    (tmp_path / "south.env").write_text("PIXGATE_VAR\n")
    assert "cell south: line 1 is not NAME='value'" in cells["north"].fails(*typed(tmp_path, "map"))

    (tmp_path / "south.env").write_text((tmp_path / "north.env").read_text())
    said = cells["north"].fails(*typed(tmp_path, "map"))
    assert "two cells, north and south, claim one host name: north.example" in said
    assert not (tmp_path / "cells.map").exists()


def test_a_move_needs_two_cells_on_postgres(cells: dict[str, Shell], tmp_path: Path):
    shell = cells["north"]
    company = shell.reads("company", "create", "--name", "C")["id"]
    way = ("--from", "north", "--to", "south")

    assert "between PostgreSQL servers alone" in shell.fails(
        *typed(tmp_path, "move", company, *way)
    )
    unknown = typed(tmp_path, "move", company, "--from", "north", "--to", "east")
    assert "there is no cell 'east' (cells: north, south)" in shell.fails(*unknown)
    assert "not a hyphenated UUID" in shell.fails(*typed(tmp_path, "move", "x", *way))
