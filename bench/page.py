"""Writes the figures of kept runs into a page, each between the marks that name its command."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import goals, history, stages, targets
from bench.figures import Measured, Round, spread
from bench.goals import Goal
from bench.peers import targets as peer_targets

QUOTED = history.RESULTS / "quoted"
"""Runs that a page quotes; they are under version control."""

_END = "<!-- end -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One kept file; ``stages`` counts the samples of a profile, else there are none."""

    at: str
    command: str
    machine: Mapping[str, str]
    measured: Measured
    stages: Mapping[str, int]

    @property
    def script(self) -> str:
        """Name what was run, such as ``bench/run.py``."""
        return self.command.partition(" ")[0]


GOALS: Mapping[str, Sequence[Goal]] = {
    "bench/run.py": targets.GOALS,
    "bench/peers/run.py": peer_targets.GOALS,
}


def main(arguments: Sequence[str]) -> int:
    """Quote kept files in a page; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("kept", type=Path, nargs="+", help="files of the history")
    given = parser.parse_args(arguments)
    text = given.page.read_text()
    QUOTED.mkdir(exist_ok=True)
    for file in given.kept:
        run = read(file)
        quoted = QUOTED / f"{run.at[:10]}-{run.script.replace('/', '-').removesuffix('.py')}.json"
        shutil.copy(file, quoted)
        text = replaced(text, run, quoted.name)
    given.page.write_text(text)
    return 0


def read(file: Path) -> Run:
    """Read a kept file back."""
    kept: Mapping[str, Any] = json.loads(file.read_text())
    rounds = {name: [Round(**one) for one in taken] for name, taken in kept["rounds"].items()}
    return Run(
        at=kept["at"],
        command=kept["command"],
        machine=kept["machine"],
        measured=Measured(rounds=rounds, values=kept["values"]),
        stages=kept.get("stages", {}),
    )


def replaced(text: str, run: Run, name: str) -> str:
    """
    Put a run's figures where the page has its marks.

    Raises:
        ValueError: the page has no place for it.
    """
    mark = f"<!-- figures: {run.script} -->"
    place = re.compile(f"{re.escape(mark)}.*?{re.escape(_END)}", re.DOTALL)
    if not place.search(text):
        problem = f"the page has no {mark}"
        raise ValueError(problem)
    written = "\n".join([mark, *written_out(run, name), _END])
    return place.sub(lambda _found: written, text)


def written_out(run: Run, name: str) -> Iterator[str]:
    """Write the tables of a run, and what it was taken under."""
    if run.stages:
        yield from stages.table(run.stages)
    else:
        yield from history.systems(run.measured)
    yield ""
    yield from history.values(run.measured)
    reached = GOALS.get(run.script, ())
    if reached:
        yield from goals.table(reached, run.measured)
        yield ""
    others = [one.other_cores for taken in run.measured.rounds.values() for one in taken]
    if others:
        yield f"- Other programs took {spread(others, '.2f')} of the cores meanwhile."
    yield f"- Taken {run.at}. {', '.join(f'{word}: {text}' for word, text in run.machine.items())}."
    yield f"- Command `{run.command}`; every round in [{name}](../bench/results/quoted/{name})."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
