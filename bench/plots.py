"""
``make bench-plots``: what a request costs as things grow; all of it must stay flat.

Connections, rows of a page, stored accounts, stored payouts. Quick by default;
``--full`` goes to a million rows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import uvloop

from bench import filling, history, rounds, subjects, system
from bench.figures import Measured, Round
from bench.load import Load, ask
from bench.partner import GatewaySite, Prepared, prepare, write_configuration
from bench.rounds import Subject, Turns, WrongAnswer
from bench.subjects import Stage
from bench.svg import Plot

_ACROSS = {
    "connections": "connections, each always asking",
    "rows": "movements in the statement",
    "accounts": "stored accounts",
    "payouts": "stored payouts of one account",
}
_AT = {
    "connections": (1, 2, 8, 32, 64, 128, 256, 512),
    "rows": (1, 10, 25, 50, 100),
    "accounts": (10, 100, 1000, 10_000),
    "payouts": (100, 1000, 10_000),
}
_FULL = {"accounts": (100_000, 1_000_000), "payouts": (100_000, 1_000_000)}
_USUAL = Load(connections=64)
_IN_USE = 10
_MOST_ASKED = 100_000

Row = tuple[str, int, Subject]
"""Name of the line, place across, and what is measured there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """
    Which plots, how long, how far.

    Attributes:
        full: Up to a million rows.
        pictures: Folder of the SVG files.
    """

    rounds: int
    seconds: float
    full: bool
    only: Sequence[str]
    results: Path
    pictures: Path


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep, draw; return the exit status."""
    options = read(arguments)
    system.raise_file_limit()
    system.pin(os.getpid(), system.cores().others)
    try:
        with tempfile.TemporaryDirectory(prefix="pixgate-plots-") as name:
            folder = Path(name)
            system.keep_bytecode(folder / "bytecode")
            prepared = prepare(folder / "prepared")
            measured = Measured()
            for figure in options.only:
                measured.rounds |= _taken(folder / figure, prepared, figure, options)
    except (WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    told = f"{options.rounds} rounds of {options.seconds:g} s in turns; median (min..max)"
    command = f"bench/plots.py --rounds {options.rounds} --seconds {options.seconds:g}"
    if options.full:
        command += " --full"
    return history.close(
        measured, (), history.Kept(folder=options.results, command=command, told=told), check=False
    )


def read(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0].strip())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round")
    parser.add_argument("--full", action="store_true", help="up to a million rows")
    parser.add_argument("--only", nargs="+", choices=_ACROSS, default=list(_ACROSS))
    parser.add_argument("--results", type=Path, default=history.RESULTS, help="of the history")
    parser.add_argument("--pictures", type=Path, default=history.RESULTS, help="of the plots")
    return Options(**vars(parser.parse_args(arguments)))


def _taken(
    folder: Path, prepared: Prepared, figure: str, options: Options
) -> Mapping[str, list[Round]]:
    """Measure one plot and draw it."""
    turns = Turns(rounds=options.rounds, seconds=options.seconds, warming_s=options.seconds)
    at = _AT[figure] + (_FULL.get(figure, ()) if options.full else ())
    with subjects.staged(folder, prepared) as stage:
        rows = list(_ROWS[figure](stage, at))
        everything = [subject for _, _, subject in rows]
        taken = uvloop.run(rounds.take(everything, turns, stage.bank.pid))
    series: dict[str, dict[float, list[float]]] = {}
    for line, place, subject in rows:
        series.setdefault(line, {})[place] = [one.cpu_us for one in taken[subject.name]]
    drawn = Plot(
        title=f"Cost against {figure}",
        across=_ACROSS[figure],
        up="CPU µs per request, median and spread",
        series=series,
    ).written()
    options.pictures.mkdir(parents=True, exist_ok=True)
    (options.pictures / f"cost-{figure}.svg").write_text(drawn)
    return taken


def _connections(stage: Stage, at: Sequence[int]) -> Iterator[Row]:
    proxy, balance = subjects.proxy(stage, _USUAL), subjects.gateway(stage, _USUAL)
    for place in at:
        load = Load(connections=place)
        for line, subject in (("gateway", balance), ("bare proxy", proxy)):
            name = f"{line}, {place} connections"
            yield line, place, replace(subject, name=name, load=load)


def _rows(stage: Stage, at: Sequence[int]) -> Iterator[Row]:
    balance = subjects.gateway(stage, _USUAL)
    for place in at:
        asking = subjects.statement(balance, stage.prepared.partner, place)
        yield "statement", place, replace(asking, name=f"statement of {place}")


def _accounts(stage: Stage, at: Sequence[int]) -> Iterator[Row]:
    partner = stage.prepared.partner
    for place in at:
        where = stage.place(f"accounts-{place}")
        ids = filling.fill_accounts(write_configuration(where), partner, place)
        balance = _balance(stage, where)
        drawn = Random(place).sample(ids, min(place, _MOST_ASKED))  # each run draws the same
        for line, used in ((f"{_IN_USE} in use", drawn[:_IN_USE]), ("all in turn", drawn)):
            order = replace(balance.order, others=[partner.request(each) for each in used])
            yield line, place, replace(balance, name=f"{place} accounts, {line}", order=order)


def _payouts(stage: Stage, at: Sequence[int]) -> Iterator[Row]:
    partner, today = stage.prepared.partner, datetime.now(UTC).date()
    window = f"init={today - timedelta(days=1)}&ends={today}&limit=25"
    for place in at:
        where = stage.place(f"payouts-{place}")
        asked = filling.fill_payouts(write_configuration(where), partner, place)
        balance = _balance(stage, where)
        lines = {
            "one by reference": [f"withdraw/{each}" for each in asked],
            "page of 25": [f"withdraws?{window}"],
        }
        for line, paths in lines.items():
            first, *others = map(partner.account_request, paths)
            order = replace(balance.order, request=first, others=others)
            name = f"{place} payouts, {line}"
            yield line, place, replace(balance, name=name, order=order, right=ask(order))


def _balance(stage: Stage, place: GatewaySite) -> Subject:
    """Start a gateway on a store that was filled."""
    return subjects.balance(stage.gateway(place), place, stage.prepared.partner, _USUAL)


_ROWS: Mapping[str, Callable[[Stage, Sequence[int]], Iterator[Row]]] = {
    "connections": _connections,
    "rows": _rows,
    "accounts": _accounts,
    "payouts": _payouts,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
