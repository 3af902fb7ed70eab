# ruff: noqa: T201 - a command prints
"""Plant mistakes in copies of the tree, one at a time: the named tests must fail for each."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from tests.mistakes.mistake import Mistake
from tests.mistakes.page import record
from tests.mistakes.planting import Copy, Verdict
from tests.mistakes.table import MISTAKES

ROOT = Path(__file__).resolve().parents[2]

_UNPLANTED_S = 900.0
_LONGEST_ERROR = 120


def main() -> int:
    """Run what was asked for; 1 when a mistake survives, or a named test fails without one."""
    asked = _asked()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no copy is left behind
    unknown = set(asked.only) - {each.name for each in MISTAKES}
    chosen = [each for each in MISTAKES if not asked.only or each.name in asked.only]
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
    parser.add_argument("--record", action="store_true", help="write tests/mistakes/README.md")
    asked = parser.parse_args()
    if asked.only and asked.record:
        parser.error("the page tells of the whole list: leave --only out")
    return asked


def _verdicts(folder: Path, mistakes: Sequence[Mistake], jobs: int) -> list[Verdict]:
    """Run the tests without any mistake, then with each; nothing when they fail without."""
    with ExitStack() as open_copies, ThreadPoolExecutor(jobs) as pool:
        copies = list(pool.map(lambda number: Copy(ROOT, folder / str(number)), range(jobs)))
        for each in copies:
            open_copies.callback(each.close)
        if not _pass(pool, copies, mistakes):
            return []
        return list(_told(_run_all(pool, copies, mistakes)))


def _pass(pool: Executor, copies: Sequence[Copy], mistakes: Sequence[Mistake]) -> bool:
    """Run every named test once without any mistake, shared out among the copies."""
    tests = sorted({test for each in mistakes for test in each.tests})
    # Without a name pytest would run every test there is.
    shares = filter(None, (tests[number :: len(copies)] for number in range(len(copies))))
    ran = list(pool.map(lambda copy, share: copy.run(share, _UNPLANTED_S), copies, shares))
    for each in ran:
        if each.code:
            print(each.printed, "The named tests must pass without any mistake.", sep="\n")
            return False
    took_s = max(each.took_s for each in ran)
    print(f"{len(tests)} named tests and files pass unplanted in {took_s:.0f} s", flush=True)
    return True


def _run_all(
    pool: Executor, copies: Sequence[Copy], mistakes: Sequence[Mistake]
) -> Iterator[Verdict]:
    """Plant each mistake in whichever copy is free."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for each in copies:
        free.put(each)

    def run(mistake: Mistake) -> Verdict:
        copy = free.get()
        try:
            return copy.judge(mistake)
        finally:
            free.put(copy)

    yield from pool.map(run, mistakes)


def _told(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    """Print a row for each as it comes."""
    for each in verdicts:
        word = "caught" if each.caught else "SURVIVED"
        print(f"{word:9} {each.took_s:5.1f} s  {each.mistake.name}: {each.by}", flush=True)
        if each.error:
            print(" " * 19, each.error[:_LONGEST_ERROR], flush=True)
        if not each.caught:
            print(each.printed[-3000:], flush=True)
        yield each


if __name__ == "__main__":
    sys.exit(main())
