"""A campaign from the command line: ``make event-kills``."""

from __future__ import annotations

import argparse
import dataclasses
import secrets
import sys

import uvloop

from tests.proofs.events.campaign import campaign
from tests.proofs.events.scale import SCALES
from tests.servers import loopback


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main() -> int:
    """Run one campaign; the exit code is 1 when a promise was not kept."""
    asked = argparse.ArgumentParser(prog="python -m tests.proofs.events", description=__doc__)
    asked.add_argument("--scale", choices=SCALES, default="full")
    asked.add_argument("--changes", type=int, help="at least so many")
    asked.add_argument("--seconds", type=float, help="at least so long")
    asked.add_argument("--seed", type=int)
    given = asked.parse_args()
    changed = {
        name: value
        for name in ("changes", "seconds")
        if (value := getattr(given, name)) is not None
    }
    seed = secrets.randbelow(1_000_000_000) if given.seed is None else given.seed
    _print(f"seed {seed}")
    loopback.stay()
    tally = uvloop.run(campaign(dataclasses.replace(SCALES[given.scale], **changed), seed, _print))
    print("\n".join(tally.lines()))  # noqa: T201
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
