# ruff: noqa: T201 - a command prints
"""``python -m tests.proofs.simulation``: live many lives, or replay one and tell its story."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.proofs.simulation.lives import Life, run, run_many

_EVERY = 500


def main() -> int:
    """Run what was asked for; 1 when an invariant was broken."""
    asked = _asked()
    if asked.seed is not None:
        return _replay(asked.seed, steps=asked.steps)
    lives = run_many(range(asked.first, asked.first + asked.seeds), asked.jobs)
    return _tell_all(lives)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many lives")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes that share them")
    parser.add_argument("--seed", type=int, help="replay this one and tell its story")
    parser.add_argument("--steps", action="store_true", help="tell every step of it")
    return parser.parse_args()


def _replay(seed: int, *, steps: bool) -> int:
    life = run(seed, note=print, watch=print if steps else None)
    print(f"{life.steps} steps, trace {life.digest[:16]}, {life.violation or 'no violation'}")
    return bool(life.violation)


def _tell_all(lives) -> int:
    began, steps, broken, counts = time.monotonic(), 0, [], Counter[str]()
    for number, life in enumerate(lives, 1):
        steps += life.steps
        counts += life.counts
        if life.violation:
            broken.append(life)
            _tell_broken(life)
        if number % _EVERY == 0:
            print(f"{number} seeds, {steps:,} steps, {time.monotonic() - began:.0f} s", flush=True)
    for event, times in counts.most_common():
        print(f"{times:>9,}  {event}")
    taken = time.monotonic() - began
    print(f"{steps:,} steps over {number} seeds in {taken:.0f} s: {len(broken)} violations")
    return bool(broken)


def _tell_broken(life: Life) -> None:
    print(f"VIOLATION {life.violation}", f"  make simulate SEED={life.seed}", sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
