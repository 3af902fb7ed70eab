# ruff: noqa: T201 - a command prints
"""Plant mistakes in copies of the tree, one at a time: the named tests must fail for each."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from shutil import copytree

from tests.mistakes.mistake import Mistake
from tests.mistakes.page import record
from tests.mistakes.planting import Verdict, copy_tree, judge, planted, run_tests
from tests.mistakes.table import MISTAKES

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run what was asked for; 1 when a mistake survives, or a named test fails without one."""
    asked = _asked()
    chosen = [each for each in MISTAKES if not asked.only or each.name in asked.only]
    unknown = set(asked.only) - {each.name for each in MISTAKES}
    if unknown or not chosen:
        print("no such mistake:", ", ".join(sorted(unknown)))
        return 1
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mistakes-") as folder:
        verdicts = _verdicts(Path(folder), chosen, asked.jobs)
        if not verdicts:
            return 1
    caught = sum(each.caught for each in verdicts)
    took_s = time.monotonic() - began
    print(f"{caught} of {len(verdicts)} planted mistakes caught in {took_s:.0f} s")
    if asked.record:
        record(ROOT, verdicts, took_s)
    return int(caught < len(verdicts))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mistakes", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this one")
    parser.add_argument("--jobs", type=int, default=2, help="copies at work at once")
    parser.add_argument("--record", action="store_true", help="write docs/planted-mistakes.md")
    return parser.parse_args()


def _verdicts(folder: Path, mistakes: Sequence[Mistake], jobs: int) -> list[Verdict]:
    """Run the tests without any mistake, then with each; nothing when they fail without."""
    tree = copy_tree(ROOT, folder / "0")
    tests = sorted({test for each in mistakes for test in each.tests})
    ran = run_tests(tree, tests, jobs, keep=True)
    if ran.code:
        print(ran.printed, "The named tests must pass without any mistake.", sep="\n")
        return []
    print(f"{len(tests)} named tests and files pass unplanted in {ran.took_s:.0f} s", flush=True)
    trees = [tree, *(copytree(tree, folder / str(number)) for number in range(1, jobs))]
    return list(_told(_run_all(trees, mistakes)))


def _run_all(trees: Sequence[Path], mistakes: Sequence[Mistake]) -> Iterator[Verdict]:
    """Plant each mistake in whichever copy is free."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def run(mistake: Mistake) -> Verdict:
        tree = free.get()
        try:
            with planted(tree, mistake):
                return judge(mistake, run_tests(tree, mistake.tests))
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        yield from pool.map(run, mistakes)


def _told(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    """Print a row for each as it comes."""
    for each in verdicts:
        word = "caught" if each.caught else "SURVIVED"
        print(f"{word:9} {each.took_s:5.1f} s  {each.mistake.name}: {each.by}", flush=True)
        if not each.caught:
            print(each.printed[-3000:], flush=True)
        yield each


if __name__ == "__main__":
    sys.exit(main())
