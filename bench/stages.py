"""
``make bench-profile``: where the time of a balance goes, by stage.

The gateway under load, its stack noted every three milliseconds of CPU time. Each
counts once, for the innermost of its frames that belongs to a stage; C code
counts for the Python that runs next.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import uvloop

from bench import history, load, movements, subjects, system
from bench.load import Load
from bench.partner import prepare
from bench.rounds import Subject, WrongAnswer

STAGES: Mapping[str, str] = {
    "gateway/net/server/": "our listener: reading a request, writing an answer",
    "gateway/http/": "from the row to the answer: table, call, document",
    "gateway/telemetry/": "metrics, log lines, trace id",
    "gateway/runtime/records/": "record cache and look-ups",
    "gateway/security/": "digest of the secret, unsealing",
    "gateway/runtime/request_log_writer": "store: the request log, records that ran out",
    "gateway/app/": "between the parts",
    "gateway/runtime/": "between the parts",
    "gateway/operations/": "operations and domain",
    "gateway/domain/": "operations and domain",
    "gateway/store/": "store: the request log, records that ran out",
    "policies/authentication/": "credentials",
    "policies/": "quota, throttle, permission, scope, state",
    "gateway/net/client/": "our transport to the bank",
    "gateway/net/common/": "our listener: reading a request, writing an answer",
    "provider_adapters/_shared/": "around it: admission, deadline, transcript",
    "provider_adapters/sandbox/": "the bank's words into ours",
    "aiohttp/": "aiohttp",
    "sqlalchemy/": "store: the request log, records that ran out",
    "uvloop/": "event loop and system calls outside of any callback",
    "asyncio/": "event loop and system calls outside of any callback",
}
"""What code belongs to; the longest beginning decides."""

_ELSE = "all else"
_FOLDERS = re.compile(r".*(?:site-packages|lib/python[\d.]+)/")
_ROOT = Path(__file__).parents[1]
_WATCHED = Path(__file__).with_name("watched.py")


def main(arguments: Sequence[str]) -> int:
    """Sample and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--results", type=Path, default=history.RESULTS, help="of the history")
    parser.add_argument("--statement", action="store_true", help="100 rows instead of a balance")
    given = parser.parse_args(arguments)
    system.pin(os.getpid(), system.cores().others)
    try:
        stacks = sampled(given.seconds, statement=given.statement)
    except (WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    counted = by_stage(stacks)
    print(*table(counted), sep="\n")
    command = f"bench/stages.py --seconds {given.seconds}{' --statement' * given.statement}"
    kept = history.Kept(folder=given.results, command=command, told="")
    history.write(kept, {"rounds": {}, "values": {}, "stages": counted})
    return 0


def sampled(seconds: int, *, statement: bool) -> Sequence[str]:
    """Load the gateway and have it watched; return stacks with their counts; raises WrongAnswer."""
    with tempfile.TemporaryDirectory(prefix="pixgate-profile-") as name:
        folder = Path(name)
        system.keep_bytecode(folder / "bytecode")
        stacks = folder / "stacks"
        with subjects.staged(folder / "all", prepare(folder / "prepared")) as stage:
            place = stage.place("watched")
            pid = stage.gateway(place, (sys.executable, str(_WATCHED), str(stacks)))
            partner = stage.prepared.partner
            subject = subjects.balance(pid, place, partner, Load(connections=64))
            if statement:
                subject = subjects.statement(subject, partner, movements.MOST)
            uvloop.run(_look(subject, seconds))
        return stacks.read_text().splitlines()


def by_stage(stacks: Sequence[str]) -> Counter[str]:
    """Count samples by stage."""
    counted: Counter[str] = Counter()
    for line in stacks:
        number, _, files = line.partition(" ")
        counted[stage_of(files.split(";"))] += int(number)
    return counted


def stage_of(files: Sequence[str]) -> str:
    """Find the stage of the innermost file that has one; files are innermost first."""
    for file in files:
        short = _FOLDERS.sub("", file.removeprefix(f"{_ROOT}/"))
        begin = max((each for each in STAGES if short.startswith(each)), key=len, default="")
        if begin:
            return STAGES[begin]
    return _ELSE


def table(counted: Mapping[str, int]) -> Iterator[str]:
    """Write shares, the largest first."""
    whole = sum(counted.values())
    yield f"| Stage ({whole:,} samples) | Share |"
    yield "| --- | --- |"
    for stage, number in sorted(counted.items(), key=lambda each: -each[1]):
        yield f"| {stage} | {number / whole:.0%} |"


async def _look(subject: Subject, seconds: int) -> None:
    """Have it answer for a while, forgetting its start; raises WrongAnswer."""
    async with load.calling(subject.order, subject.load) as tally:
        await asyncio.sleep(1)
        os.kill(subject.pid, signal.SIGUSR1)
        await asyncio.sleep(seconds)
    if tally.wrong:
        problem = f"{tally.wrong} wrong of {tally.answers}"
        raise WrongAnswer(problem)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
