"""What ``make bench-peers`` is held to."""

from __future__ import annotations

from typing import Final

from bench import goals
from bench.goals import Goal
from bench.peers.catalogue import FASTAPI, FASTIFY, HTTPX, LITESTAR, LUA, NGINX
from bench.subjects import BALANCE

FEW: Final = 8
"""Connections at which httpx still does well."""

FAST: Final = 4000
"""Requests a second, far from what either can do."""


def with_few(name: str) -> str:
    """Name a system asked on few connections."""
    return f"{name}, {FEW} connections"


def at_rate(name: str) -> str:
    """Name a system asked at the fixed rate."""
    return f"{name}, {FAST:,}/s"


GOALS: Final = (
    Goal(
        name="R3",
        meaning=f"balance / {FASTAPI}, CPU",
        reach=0.33,
        aim=0.25,
        fails_above=0.55,
        values=goals.cpu_ratio(BALANCE, FASTAPI),
    ),
    Goal(
        name="R4",
        meaning=f"balance / {HTTPX}, {FEW} connections, CPU",
        reach=0.12,
        fails_above=0.2,
        values=goals.cpu_ratio(with_few(BALANCE), with_few(HTTPX)),
    ),
    Goal(
        name="R5",
        meaning=f"balance / {FASTIFY}, CPU",
        reach=1.7,
        aim=1.3,
        fails_above=3,
        values=goals.cpu_ratio(BALANCE, FASTIFY),
    ),
    Goal(
        name="R6",
        meaning=f"balance / {LUA}, CPU",
        reach=2.4,
        aim=2.0,
        fails_above=4,
        values=goals.cpu_ratio(BALANCE, LUA),
    ),
    Goal(
        name="Granian",
        meaning=f"balance / {LITESTAR}, CPU",
        reach=0.40,
        aim=0.33,
        values=goals.cpu_ratio(BALANCE, LITESTAR),
    ),
    Goal(
        name="p99",
        meaning=f"at {FAST:,}/s over {NGINX}, ms",
        reach=1,
        aim=0.3,
        values=goals.p99_ms(at_rate(BALANCE), at_rate(NGINX)),
    ),
)
