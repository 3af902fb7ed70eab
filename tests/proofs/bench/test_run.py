"""The benchmark from end to end: right answers, both tables, a history file. Never its figures."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import rounds, scrape, startup, subjects, telling
from bench.load import Order
from bench.partner import write_request
from bench.rounds import Subject

ROOT = Path(__file__).resolve().parents[3]
ONLY = ["cpu", "slow", "rate", "telling", "start", "scrape"]
SHORT = ["--rounds", "1", "--seconds", "0.2", "--connections", "4", "--only", *ONLY]
SYSTEMS = [
    subjects.SLOW_PROXY,
    subjects.SLOW,
    subjects.PROXY,
    subjects.CANNED_ANSWER,
    subjects.BALANCE,
    subjects.WOOVI,
    subjects.REFUSED,
    subjects.STATEMENT,
    subjects.SILENT,
    *(subjects.at_rate("gateway", per_s) for per_s in subjects.RATES),
    *(subjects.at_rate("bank directly", per_s) for per_s in subjects.RATES),
]
VALUES = [
    telling.TELLING,
    *(startup.START, startup.START_CPU, startup.FIRST_START),
    *(scrape.SCRAPE, scrape.IDLE),
]

PATIENCE_S = 840
"""Half a minute of one core: a machine with much else to do gives it a tenth of one."""

pytestmark = pytest.mark.timeout(PATIENCE_S + 60)


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> tuple[str, dict[str, object]]:
    """One short run: what it printed, and the file it kept."""
    results, made = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("bench")
    done = subprocess.run(
        [sys.executable, ROOT / "bench/run.py", *SHORT, "--results", results],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(made)},
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [kept] = results.iterdir()
    return done.stdout, json.loads(kept.read_text())


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_its_row(short, name: str):
    rows = [line for line in short[0].splitlines() if line.startswith(f"| {name} |")]

    assert len(rows) == 1


@pytest.mark.parametrize("name", VALUES)
def test_what_has_no_rounds_is_listed(short, name: str):
    assert f"- {name}: " in short[0]


def test_the_load_of_others_is_told(short):
    """A figure taken on a busy machine says so."""
    assert "other programs took " in short[0]


def test_what_was_not_asked_for_is_told_as_not_measured(short):
    assert "| R11 | 2 processes / 1 process, CPU | not measured |" in short[0]


def test_a_run_is_kept_with_date_and_command(short):
    kept = short[1]

    assert kept["command"] == f"bench/run.py {' '.join(SHORT)}"
    assert kept["at"].endswith("+00:00")
    assert list(kept["rounds"]) == SYSTEMS
    assert kept["rounds"][subjects.BALANCE][0]["answers"] > 0
    assert list(kept["values"]) == VALUES


async def test_an_answer_of_another_content_ends_the_run(bank_port: int):
    asked = Order(port=bank_port, request=write_request("/v1/contas/bench/saldo", "Bearer x"))
    subject = Subject(name="the stub", pid=0, order=asked, right="HTTP/1.1 200 OK\n\nelse")

    with pytest.raises(rounds.WrongAnswer, match="the stub said"):
        await asyncio.to_thread(rounds.compare, [subject])


def test_nothing_is_left_behind(short, tmp_path_factory):
    """Neither a gateway, which is known by its configuration, nor what it wrote."""
    made = str(tmp_path_factory.getbasetemp() / "bench0")

    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if made in said(path)]

    assert left == []
    assert list(Path(made).iterdir()) == []


def said(path: Path) -> str:
    """Read a command line; empty when its process has ended meanwhile."""
    try:
        return path.read_text()
    except OSError:
        return ""
