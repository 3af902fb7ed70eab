"""
Pages of payouts, beside a balance: whatever a window holds, a page of 25 costs the same.

Three accounts of one gateway have a hundred payouts within thirty past days, a hundred thousand
within those days, and a hundred thousand of today.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from bench import goals, postgres, subjects
from bench.bulk_rows import Bulk, fill_payouts
from bench.goals import Goal
from bench.load import Load, ask
from bench.partner import GatewaySite, Partner, make_partner, write_configuration
from bench.postgres import NoServer
from bench.rounds import Subject
from bench.subjects import Stage
from gateway.config.reading import read_settings

FIGURE: Final = "lists"
STORES: Final = ("SQLite", "PostgreSQL")

_FEW, _MANY = 100, 100_000
_LIMIT = 25
_DAYS = timedelta(days=30)
_CLOSEST = timedelta(milliseconds=1)
"""Apart: a run in the first two minutes of a UTC day has some of yesterday."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """The accounts whose windows are asked for."""

    few: str
    many: str
    today: str


def balance(store: str) -> str:
    """Name what pages are compared with."""
    return f"{store}, balance beside lists"


def few(store: str) -> str:
    """Name a page of a window that holds little."""
    return f"{store}, page of {_LIMIT} of {_FEW} payouts"


def many(store: str) -> str:
    """Name a page of a window of closed days."""
    return f"{store}, page of {_LIMIT} of {_MANY:,} on past days"


def today(store: str) -> str:
    """Name a page of a day that is not over."""
    return f"{store}, page of {_LIMIT} of {_MANY:,} of today"


def standing(stage: Stage, load: Load) -> Iterator[Subject]:
    """Start gateways on filled stores; PostgreSQL is left out, with a word, where there is none."""
    file, server = STORES
    yield from _on(file, stage, stage.place("lists"), load)
    try:
        place = stage.place("lists-server", stage.started.enter_context(postgres.running()))
    except NoServer as problem:
        print(f"lists on PostgreSQL are not measured: {problem}")
        return
    yield from _on(server, stage, place, load)


def _on(store: str, stage: Stage, place: GatewaySite, load: Load) -> Iterator[Subject]:
    """Start one, and ask it for a balance and for a page of each window."""
    config = write_configuration(place)
    partner = make_partner(config) if place.database else stage.prepared.partner
    windows = Windows(few=partner.woovi_account, many=partner.account, today=partner.slow_account)
    url = read_settings(config, os.environ).store_url
    asyncio.run(_filled(url, windows))
    plain = subjects.balance(stage.gateway(place), place, partner, load)
    plain = replace(plain, figure=FIGURE)
    yield replace(plain, name=balance(store))
    day = datetime.now(UTC).date()
    past = _window(day - _DAYS, day - timedelta(days=1))
    yield _page(plain, few(store), partner, (windows.few, past))
    yield _page(plain, many(store), partner, (windows.many, past))
    yield _page(plain, today(store), partner, (windows.today, _window(day, day)))


async def _filled(url: str, windows: Windows) -> None:
    """Store the payouts of each window, evenly: over past days, and over today until now."""
    now = datetime.now(UTC)
    today = now - now.replace(hour=0, minute=0, second=0, microsecond=0)
    filling = {
        windows.few: Bulk(rows=_FEW, first=0, apart=_DAYS / _FEW, open=0),
        windows.many: Bulk(rows=_MANY, first=_FEW, apart=_DAYS / _MANY, open=0),
        windows.today: Bulk(
            rows=_MANY, first=_FEW + _MANY, apart=max(_CLOSEST, today / _MANY), open=0
        ),
    }
    for account, bulk in filling.items():
        await fill_payouts(url, [account], bulk)


def _window(begin: date, end: date) -> str:
    return f"withdraws?init={begin}&ends={end}&limit={_LIMIT}"


def _page(plain: Subject, name: str, partner: Partner, asked: tuple[str, str]) -> Subject:
    """Ask for the page of an account and a window; its first answer is the right one."""
    account, window = asked
    order = replace(plain.order, request=partner.account_request(window, account))
    return replace(plain, name=name, order=order, right=ask(order))


def _goals(store: str) -> Iterator[Goal]:
    pairs = (
        ("page of 25 / balance", 6, 10, (few(store), balance(store))),
        ("100,000 on past days / 100", 1.2, 1.5, (many(store), few(store))),
        ("100,000 of today / 100", 3, None, (today(store), few(store))),
    )
    for meaning, reach, fails_above, pair in pairs:
        yield Goal(
            name="lists",
            meaning=f"{meaning}, {store}, CPU",
            reach=reach,
            fails_above=fails_above,
            values=goals.cpu_ratio(*pair),
        )


GOALS: Final = tuple(goal for store in STORES for goal in _goals(store))
