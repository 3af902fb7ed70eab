"""
``python -m tests.proofs.outflow``: false stops and thefts over six kinds of company.

It prints the rows of the table in docs/outflow.md after each round of a life of every kind, so that
a run that is cut short has said what it measured.
"""

from __future__ import annotations

import argparse
import sys

from tests.world.outflow.kinds import KINDS
from tests.world.outflow.trial import Trial, lived, robbed, row


def _rounds(lives: int, robberies: int, days: int, first: int) -> None:
    kinds = {name: Trial() for name in KINDS}
    for number in range(max(lives, robberies)):
        for name, kind in kinds.items():
            if number < robberies:
                kind.add(robbed(name, 10_000 + first + number))
            if number < lives:
                kind.add(lived(name, first + number, days))
            for seed, day, subject, excess in kind.false:
                if seed == first + number:
                    sys.stdout.write(f"false stop: {name} {seed}, day {day}: {subject} {excess}\n")
        whole = Trial()
        for name, kind in kinds.items():
            whole.add(kind)
            sys.stdout.write(row(name, kind) + "\n")
        sys.stdout.write(row("all", whole) + "\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--lives", type=int, default=10, help="companies of each kind")
    given.add_argument("--robberies", type=int, default=5, help="robbed companies of each kind")
    given.add_argument("--days", type=int, default=200, help="days of each life")
    given.add_argument("--first", type=int, default=1, help="the first seed")
    asked = given.parse_args()
    _rounds(asked.lives, asked.robberies, asked.days, asked.first)
