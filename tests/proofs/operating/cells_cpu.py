"""
CPU of a payout in two cells beside one: ``python -m tests.proofs.operating.cells_cpu``.

Rounds alternate. In one all partners pay in north, in the next half of them in south, through the
same HAProxy; counted is the CPU of HAProxy, and of gateway and PostgreSQL of the cells that pay:
orders, callbacks, looks and all, without what these processes use when nobody pays. Each payout was
answered 200.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from bench import system
from tests.proofs.operating.cells import NORTH, SOUTH, Cells, cells_in
from tests.proofs.torture.sites import Account

AT_ONCE = 4
_WARMING = 200
_REST_S = 10.0


class WrongAnswer(RuntimeError):
    """A payout was not answered 200."""


async def _pay(cells: Cells, account: Account, names: Sequence[str]) -> None:
    for name in names:
        answer = await cells.pay(account, name)
        if answer.status != 200:
            raise WrongAnswer(str(answer))


def _processes(cells: Cells, paying: Sequence[str]) -> list[int]:
    roots = [cells.front.pid]
    for name in paying:
        gateway, store = cells.gateways[name].command.process, cells.stores[name]
        assert gateway is not None
        roots += [gateway.pid, store.pid]
    return [pid for root in roots for pid in system.tree(root)]


async def _idle(cells: Cells, paying: Sequence[str]) -> float:
    """Return the cores that the processes of cells use when nobody pays."""
    before = system.cpu_s(_processes(cells, paying))
    await asyncio.sleep(_REST_S)
    return (system.cpu_s(_processes(cells, paying)) - before) / _REST_S


async def _round(
    cells: Cells,
    accounts: Sequence[Account],
    paying: Sequence[str],
    names: Sequence[str],
    idle: float,
) -> float:
    """Return the CPU of a payout, in milliseconds; ``idle`` cores are for other work."""
    before, began = system.cpu_s(_processes(cells, paying)), time.monotonic()
    turns = [(accounts[turn % len(accounts)], names[turn::AT_ONCE]) for turn in range(AT_ONCE)]
    await asyncio.gather(*(_pay(cells, account, share) for account, share in turns))
    used_s = system.cpu_s(_processes(cells, paying)) - before
    return (used_s - idle * (time.monotonic() - began)) * 1000 / len(names)


async def _measured(folder: Path, rounds: int, payouts: int) -> Mapping[str, Sequence[float]]:
    numbers = count()

    def fresh(many: int) -> Sequence[str]:
        return [f"cpu-{next(numbers)}" for _ in range(many)]

    async with cells_in(folder) as cells:
        north, south = (cells.gateways[each].account for each in (NORTH, SOUTH))
        one = ([north, await cells.another_company(NORTH)], (NORTH,))
        two = ([north, south], (NORTH, SOUTH))
        await cells.cells("map")
        taken: dict[str, list[float]] = {"one cell": [], "two cells": []}
        idle = [await _idle(cells, paying) for _, paying in (one, two)]
        for accounts, paying in (one, two):
            await _round(cells, accounts, paying, fresh(_WARMING), 0.0)
        for _ in range(rounds):
            for name, (accounts, paying), rest in zip(taken, (one, two), idle, strict=True):
                taken[name].append(await _round(cells, accounts, paying, fresh(payouts), rest))
        return taken


def main(arguments: Sequence[str]) -> int:
    """Print both medians and the median of the ratios of neighbours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--payouts", type=int, default=1000, help="of a round")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="cells-") as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101, S103
        taken = asyncio.run(_measured(Path(folder), asked.rounds, asked.payouts))
    for name, values in taken.items():
        print(f"{name}: {statistics.median(values):.2f} ms of CPU a payout")  # noqa: T201
    ratios = [two / one for one, two in zip(*taken.values(), strict=True)]
    print(f"two beside one: {statistics.median(ratios):.3f}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
