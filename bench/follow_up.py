"""
``make bench-follow-up``: unsettled payouts looked at by the whole gateway, beside an earlier one.

Each round starts a gateway on a copy of a store with a backlog, and measures once it is at work.
What is counted stands in the store: payouts that were settled, or looks that were noted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench import history, system
from bench.deciding import SETTLED, UNDECIDED
from bench.earlier import BEFORE, unpacked
from bench.figures import Measured, Round
from bench.goals import Goal, Values, cpu_ratio
from bench.partner import GatewaySite, write_configuration

_HERE = Path(__file__).parent
_NOW, _EARLIER = "now", "earlier"
_OK = 200
_BEGINS_S = 20.0
_WARMING_S = 1.0
_DONE = {
    SETTLED: "SELECT count(*) FROM payouts WHERE state = 'paid'",
    UNDECIDED: "SELECT count(*) FROM payout_attempts WHERE last_probe_at IS NOT NULL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """
    What is measured.

    Attributes:
        banks: How many; each has one account.
        state: What the banks say of every payout.
        latency_s: How long they take to say it.
        backlog: Payouts due at the start.
    """

    name: str
    banks: int
    state: str
    latency_s: float
    backlog: int

    @property
    def providers(self) -> Sequence[str]:
        """Their names."""
        return [f"bank-{number}" for number in range(self.banks)]


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How long a round lasts, and the bank's port and process."""

    seconds: float
    bank: int
    stub: int


MANY = Scene(
    name="10 banks of 20 ms, settled", banks=10, state=SETTLED, latency_s=0.02, backlog=30_000
)
OPEN = Scene(
    name="10 banks of 20 ms, undecided", banks=10, state=UNDECIDED, latency_s=0.02, backlog=30_000
)
SLOW = Scene(
    name="1 bank of 200 ms, undecided", banks=1, state=UNDECIDED, latency_s=0.2, backlog=1_500
)
SCENES = (MANY, OPEN, SLOW)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a round")
    parser.add_argument("--only", choices=[each.name for each in SCENES])
    parser.add_argument("--before", default=BEFORE, help="the commit to compare with")
    parser.add_argument("--results", type=Path, default=history.RESULTS)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    options = parser.parse_args(arguments)
    measured = Measured()
    try:
        with ExitStack() as stack:
            made = tempfile.TemporaryDirectory(prefix="pixgate-bench-")
            folder = Path(stack.enter_context(made))
            system.pin(os.getpid(), system.cores().others)
            trees = {_NOW: _HERE.parent, **_earlier(folder, options.before)}
            for scene in SCENES if options.only is None else [_scene(options.only)]:
                _measure(scene, trees, measured, options, folder)
    except (subprocess.CalledProcessError, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    counts = f"--rounds {options.rounds} --seconds {options.seconds}"
    kept = history.Kept(
        folder=options.results,
        command=f"bench/follow_up.py {counts}",
        told=f"{options.rounds} rounds of {options.seconds} s in turns, a request is a payout, "
        f"no latency is taken; earlier is {options.before}; median (min..max)",
    )
    return history.close(measured, GOALS, kept, check=options.check)


def _scene(name: str) -> Scene:
    return next(each for each in SCENES if each.name == name)


def _earlier(folder: Path, commit: str) -> dict[str, Path]:
    tree = unpacked(folder, commit)
    return {} if tree is None else {_EARLIER: tree}


def _measure(
    scene: Scene,
    trees: dict[str, Path],
    measured: Measured,
    options: argparse.Namespace,
    folder: Path,
) -> None:
    """Take rounds of every tree in turns."""
    with ExitStack() as stack:
        [bank] = system.free_ports(1)
        command = [
            *(sys.executable, str(_HERE / "deciding.py"), "--port", str(bank)),
            *("--state", scene.state, "--latency", str(scene.latency_s)),
        ]
        is_ready = lambda: system.answers(bank) > 0  # noqa: E731 - asked until it says yes
        running = system.running(command, system.cores().others, folder, is_ready)
        how = How(seconds=options.seconds, bank=bank, stub=stack.enter_context(running))
        made = {name: _filled(scene, tree, folder, bank) for name, tree in trees.items()}
        for _ in range(options.rounds):
            for name, tree in trees.items():
                taken = _round(scene, tree, made[name], how)
                measured.rounds.setdefault(_named(scene, name), []).append(taken)


def _filled(scene: Scene, tree: Path, folder: Path, bank: int) -> Path:
    """Make a store with a backlog by a tree's own code."""
    place = Path(tempfile.mkdtemp(dir=folder))
    config = _configured(scene, place, (1, 2, bank))
    told = ["--config", str(config), "--json"]
    company = _run(tree, ["-m", "gateway", "company", "create", "--name", "Bench", *told])
    account = _run(
        tree,
        [
            *("-m", "gateway", "account", "create", "--company", json.loads(company)["id"]),
            *("--name", "Bench", "--tax-number", "11222333000181", "--active", "--verified"),
            *("--provider", scene.providers[0], "--provider-account", "bench"),
            *("--provider-credentials", "-", *told),
        ],
    )
    filling = [str(_HERE / "unsettled.py"), "--config", str(config)]
    filling += ["--like", json.loads(account)["id"], "--payouts", str(scene.backlog)]
    _run(tree, [*filling, *scene.providers])
    return place


def _configured(scene: Scene, place: Path, ports: tuple[int, int, int]) -> Path:
    """Configure a gateway with the scene's banks, whose limits are as they come."""
    port, operations, bank = ports
    site = GatewaySite(folder=place, database="", port=port, operations=operations, bank=bank)
    config = write_configuration(site)
    document = json.loads(config.read_bytes())
    document["providers"] = {
        name: {"adapter": "sandbox", "settings": {"base_url": f"http://127.0.0.1:{bank}"}}
        for name in scene.providers
    }
    document.pop("worker", None)  # a file has one process, and earlier trees know no other
    config.write_text(json.dumps(document))
    return config


def _run(tree: Path, command: Sequence[str]) -> str:
    """Run Python with a tree's modules; return what it says."""
    done = subprocess.run(
        [sys.executable, *command],
        check=True,
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        stdout=subprocess.PIPE,
        input="token",
        text=True,
    )
    return done.stdout


def _round(scene: Scene, tree: Path, made: Path, how: How) -> Round:
    """Have a gateway work its backlog off for a while; what it uses when idle is not counted."""
    with _serving(scene, tree, made, how) as (pid, database):
        _begun(database, scene)
        taken = _watched(scene, pid, database, how)
    with _serving(scene, tree, made, how, planned=False) as (pid, database):
        time.sleep(_WARMING_S)
        idle = _watched(scene, pid, database, how)
    if not taken.answers or taken.answers * 2 >= scene.backlog:
        problem = f"{scene.name}: {taken.answers} done of {scene.backlog}"
        raise system.NotStarted(problem)
    return replace(taken, cpu_s=taken.cpu_s - idle.cpu_s)


@contextmanager
def _serving(
    scene: Scene, tree: Path, made: Path, how: How, *, planned: bool = True
) -> Iterator[tuple[int, sqlite3.Connection]]:
    """Start a tree's gateway on a copy of a store; without ``planned`` nothing is ever due."""
    port, operations = system.free_ports(2)
    # -P: the modules of the tree, whatever folder this was started in
    command = [sys.executable, "-P", "-m", "gateway", "serve", "--config"]
    os.environ["PYTHONPATH"] = str(tree)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=made.parent))) / "site"
        shutil.copytree(made, place)
        command.append(str(_configured(scene, place, (port, operations, how.bank))))
        database = stack.enter_context(closing(sqlite3.connect(place / "pixgate.db")))
        if not planned:
            database.execute("UPDATE payouts SET next_check_at = NULL")
            database.commit()
        is_ready = lambda: system.answers(operations, "/readyz") == _OK  # noqa: E731 - asked until it says yes
        running = system.running(command, system.cores().measured, place, is_ready)
        yield stack.enter_context(running), database


def _watched(scene: Scene, pid: int, database: sqlite3.Connection, how: How) -> Round:
    theirs, ours = system.tree(pid), [os.getpid(), how.stub]
    before, began = _done(database, scene), time.perf_counter()
    cpu, others, busy = system.cpu_s(theirs), system.cpu_s(ours), system.busy_s()
    time.sleep(how.seconds)
    lasted, cpu_s = time.perf_counter() - began, system.cpu_s(theirs) - cpu
    rest = system.busy_s() - busy - cpu_s - (system.cpu_s(ours) - others)
    return Round(
        answers=_done(database, scene) - before,
        seconds=lasted,
        cpu_s=cpu_s,
        other_cores=max(0.0, rest / lasted),
        p50_ms=0.0,
        p99_ms=0.0,
        pss_mb=system.pss_mb(theirs),
    )


def _begun(database: sqlite3.Connection, scene: Scene) -> None:
    """Wait until the first are done, and a moment more."""
    end = time.monotonic() + _BEGINS_S
    while not _done(database, scene) and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(_WARMING_S)


def _done(database: sqlite3.Connection, scene: Scene) -> int:
    return int(database.execute(_DONE[scene.state]).fetchone()[0])


def _named(scene: Scene, tree: str) -> str:
    return scene.name if tree == _NOW else f"{scene.name}, earlier"


def _per_payout_s(scene: Scene) -> Values:
    """Take the seconds of one payout: less is better in every goal."""
    return lambda measured: measured.each(scene.name, lambda one: one.seconds / one.answers)


def _ms(scene: Scene) -> Values:
    return lambda measured: [each * 1000 for each in _per_payout_s(scene)(measured)]


def _ratio(scene: Scene) -> Values:
    return cpu_ratio(scene.name, f"{scene.name}, earlier")


GOALS = (
    Goal(
        name="follow-up",
        meaning="CPU a payout that is settled / earlier",
        reach=0.2,
        fails_above=0.4,
        values=_ratio(MANY),
    ),
    Goal(
        name="follow-up",
        meaning="CPU a payout that is not decided / earlier",
        reach=0.2,
        fails_above=0.4,
        values=_ratio(OPEN),
    ),
    Goal(
        name="follow-up",
        meaning="ms a payout at 10 banks of 20 ms (2: 500 a second)",
        reach=2,
        fails_above=4,
        values=_ms(MANY),
    ),
    Goal(
        name="follow-up",
        meaning="ms a payout at one bank of 200 ms (25: 40 a second)",
        reach=25,
        fails_above=50,
        values=_ms(SLOW),
    ),
)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
