"""What ``make bench`` is held to."""

from __future__ import annotations

from typing import Final

from bench import cold, goals, lists, scrape, startup, subjects, telling
from bench.goals import Goal
from bench.subjects import BALANCE, CANNED_ANSWER, LATENCY_MS, PROXY, SLOW, SLOW_PROXY, at_rate

_SLOWLY, _FAST = subjects.RATES

GOALS: Final = (
    Goal(
        name="R1",
        meaning="balance / bare proxy, CPU",
        reach=0.70,
        aim=0.55,
        fails_above=1.0,
        values=goals.cpu_ratio(BALANCE, PROXY),
    ),
    Goal(
        name="R15",
        meaning="balance at woovi / at the sandbox bank, CPU",
        reach=1.05,
        fails_above=1.15,
        values=goals.cpu_ratio(subjects.WOOVI, BALANCE),
    ),
    Goal(
        name="R2",
        meaning="balance / canned answer, CPU",
        reach=2.6,
        fails_above=3.5,
        values=goals.cpu_ratio(BALANCE, CANNED_ANSWER),
    ),
    Goal(
        name="R7",
        meaning=f"{subjects.CONVERSATIONS} connections, bank at {LATENCY_MS} ms: p50, ms",
        reach=32,
        aim=29,
        values=goals.p50_ms(SLOW),
    ),
    Goal(
        name="R7",
        meaning="the same: p50 / bare proxy",
        reach=0.9,
        aim=0.6,
        fails_above=1.2,
        values=goals.p50_ratio(SLOW, SLOW_PROXY),
    ),
    Goal(
        name="R7",
        meaning="the same: p99, ms",
        reach=45,
        aim=37,
        values=goals.p99_ms(SLOW),
    ),
    Goal(
        name="R7",
        meaning="the same: p99 / p50",
        reach=2,
        fails_above=4,
        values=goals.tail(SLOW),
    ),
    Goal(
        name="R8",
        meaning="p99 at 1,000/s / the bank's own",
        reach=5,
        fails_above=10,
        values=goals.p99_ratio(at_rate("gateway", _SLOWLY), at_rate("bank directly", _SLOWLY)),
    ),
    Goal(
        name="R8",
        meaning="p99 at 4,000/s over the bank's own, ms",
        reach=1,
        aim=0.3,
        values=goals.p99_ms(at_rate("gateway", _FAST), at_rate("bank directly", _FAST)),
    ),
    Goal(
        name="R9",
        meaning="401 for a wrong secret / canned answer, CPU",
        reach=1.9,
        aim=1.6,
        fails_above=2.5,
        values=goals.cpu_ratio(subjects.REFUSED, CANNED_ANSWER),
    ),
    Goal(
        name="R10",
        meaning=telling.TELLING,
        reach=4,
        aim=2.5,
        values=goals.value(telling.TELLING),
    ),
    Goal(
        name="R10",
        meaning="the same / canned answer, CPU",
        reach=0.17,
        aim=0.11,
        fails_above=0.4,
        values=goals.value_over_cpu(telling.TELLING, CANNED_ANSWER),
    ),
    Goal(
        name="R11",
        meaning="2 processes / 1 process, CPU",
        reach=1.1,
        fails_above=1.25,
        values=goals.cpu_ratio(subjects.WORKERS, BALANCE),
    ),
    *cold.GOALS,
    *lists.GOALS,
    Goal(
        name="R14",
        meaning=f"MB (PSS) at {subjects.CONVERSATIONS} conversations",
        reach=64,
        aim=52,
        values=goals.memory_mb(SLOW),
    ),
    Goal(
        name="R14",
        meaning="the same / bare proxy",
        reach=1.6,
        fails_above=2.6,
        values=goals.memory_ratio(SLOW, SLOW_PROXY),
    ),
    Goal(
        name="statement",
        meaning="page of 100 rows over a balance, µs",
        reach=350,
        aim=200,
        values=goals.cpu_over(subjects.STATEMENT, BALANCE),
    ),
    Goal(
        name="start",
        meaning=startup.START,
        reach=1.5,
        aim=0.8,
        values=goals.value(startup.START),
    ),
    Goal(
        name="scrape",
        meaning=f"{scrape.SCRAPE}: 200 counters, 20 histograms",
        reach=2,
        aim=0.5,
        values=goals.value(scrape.SCRAPE),
    ),
)
