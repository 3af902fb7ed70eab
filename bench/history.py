"""What is left of a run: tables on the screen, and a file for later comparison."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import goals, system
from bench.figures import Measured, spread
from bench.goals import Goal

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """
    How a run is kept.

    Attributes:
        folder: Gets one file.
        command: What measures the same again.
        told: Printed above the tables.
    """

    folder: Path
    command: str
    told: str


def close(measured: Measured, reached: Sequence[Goal], kept: Kept, *, check: bool) -> int:
    """Print everything, write the file; return the exit status, which only ``check`` makes 1."""
    print(f"\n{kept.told}\n")
    print(*systems(measured), "", *values(measured), sep="\n")
    if reached:
        print(*goals.table(reached, measured), "", sep="\n")
    print(f"{', '.join(f'{name}: {text}' for name, text in system.machine().items())}")
    others = [one.other_cores for taken in measured.rounds.values() for one in taken]
    print(f"other programs took {spread(others, '.2f')} cores during the rounds")
    reached_by = {f"{goal.name}: {goal.meaning}": [*goal.values(measured)] for goal in reached}
    write(kept, {**asdict(measured), "goals": reached_by})
    failed = goals.failed(reached, measured)
    for name in failed:
        print(f"{name} is above its limit")
    return 1 if failed and check else 0


def systems(measured: Measured) -> Iterator[str]:
    """Write the table of systems."""
    yield "| System | CPU µs/request | requests/s | p50 ms | p99 ms | busy | memory MB |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name in measured.rounds:
        cells = [
            name,
            spread(measured.each(name, lambda one: one.cpu_us), ".1f"),
            spread(measured.each(name, lambda one: one.answers / one.seconds), ",.0f"),
            spread(measured.each(name, lambda one: one.p50_ms), ".2f"),
            spread(measured.each(name, lambda one: one.p99_ms), ".2f"),
            spread(measured.each(name, lambda one: one.cpu_s / one.seconds), ".2f"),
            spread(measured.each(name, lambda one: one.pss_mb), ".0f"),
        ]
        yield f"| {' | '.join(cells)} |"


def values(measured: Measured) -> Iterator[str]:
    """List what was measured without rounds."""
    for name, taken in measured.values.items():
        yield f"- {name}: {spread(taken, '.2f')}"
    if measured.values:
        yield ""


def write(kept: Kept, content: Mapping[str, object]) -> None:
    """Write the history file of this run."""
    at = datetime.now(UTC)
    kept.folder.mkdir(parents=True, exist_ok=True)
    file = kept.folder / f"{at:%Y-%m-%dT%H%M%SZ}.json"
    how = {
        "at": at.isoformat(timespec="seconds"),
        "command": kept.command,
        "machine": system.machine(),
    }
    file.write_text(json.dumps({**how, **content}, indent=1, ensure_ascii=False) + "\n")
    print(f"kept in {file.name}")
