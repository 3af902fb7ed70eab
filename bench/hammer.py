"""
Browsers that ask for pages again and again, each the moment it was answered; ended by its input.

Reads what to ask as JSON from one line of standard input, and writes at the end how each kind of
page was answered, by status.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import uvloop

_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_PAUSE_S = 0.05
"""Before a connection that was refused or lost is opened again."""


def requests(cookies: str, paths: Sequence[tuple[str, str]], seed: int) -> Iterator[Any]:
    """Return the kind and the bytes of one request after another, in an order of the seed."""
    mixed = list(paths)
    random.Random(seed).shuffle(mixed)
    head = (
        "Host: 127.0.0.1\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n"
        "Accept: text/html\r\nAccept-Encoding: gzip\r\n"
    )
    cookie = f"Cookie: {cookies}\r\n" if cookies else ""
    lines = [(kind, f"GET {path} HTTP/1.1\r\n{head}{cookie}\r\n".encode()) for kind, path in mixed]
    return itertools.cycle(lines)


async def ask(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end, and return its status."""
    head = await reader.readuntil(_END)
    length = _LENGTH.search(head)
    if length:
        await reader.readexactly(int(length[1]))
    elif b"chunked" in head.lower():
        while size := int(await reader.readuntil(b"\r\n"), 16):
            await reader.readexactly(size + 2)
        await reader.readexactly(2)
    return int(head[9:12])


async def browser(port: int, asked: Iterator[Any], tally: Counter[str]) -> None:
    """Ask on one kept connection, opened again whenever it is lost."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for kind, request in asked:
                writer.write(request)
                tally[f"{kind} {await ask(reader)}"] += 1
        except (OSError, asyncio.IncompleteReadError):
            tally["lost"] += 1
            await asyncio.sleep(_PAUSE_S)


async def hammer(order: Mapping[str, Any]) -> Counter[str]:
    """Ask until standard input ends."""
    tally: Counter[str] = Counter()
    people = order["cookies"]
    async with asyncio.TaskGroup() as browsers:
        asking = [
            browsers.create_task(
                browser(
                    order["port"], requests(people[at % len(people)], order["paths"], at), tally
                )
            )
            for at in range(order["connections"])
        ]
        await asyncio.to_thread(sys.stdin.read)
        for each in asking:
            each.cancel()
    return tally


if __name__ == "__main__":
    print(json.dumps(uvloop.run(hammer(json.loads(sys.stdin.readline())))))
