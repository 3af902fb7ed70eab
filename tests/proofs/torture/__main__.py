"""A campaign from the command line: ``make torture``."""

from __future__ import annotations

import argparse
import dataclasses
import secrets
import sys

import uvloop

from provider_adapters.testing import simulators
from tests.proofs.torture.campaign import campaign
from tests.proofs.torture.scale import SCALES
from tests.servers import loopback


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main() -> int:
    """Run one campaign; the exit code is 1 when a promise was not kept."""
    paying = [name for name in simulators.names() if simulators.find(name).pays]
    asked = argparse.ArgumentParser(prog="python -m tests.proofs.torture", description=__doc__)
    asked.add_argument("--scale", choices=SCALES, default="full")
    asked.add_argument("--seconds", type=float, help="for all trouble together")
    asked.add_argument("--seed", type=int)
    asked.add_argument("--bank", choices=paying, default="sandbox")
    given = asked.parse_args()
    scale = SCALES[given.scale]
    if given.seconds:
        scale = dataclasses.replace(scale, seconds=given.seconds)
    seed = secrets.randbelow(1_000_000_000) if given.seed is None else given.seed
    loopback.stay()
    tally = uvloop.run(campaign(scale, seed, _print, given.bank))
    print("\n".join(tally.lines()))  # noqa: T201
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
