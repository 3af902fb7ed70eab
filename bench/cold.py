"""
Accounts that nobody asked for lately, beside a few that are asked for all the time.

Each gateway has 100,000 accounts, on SQLite and on PostgreSQL. *In turn* are more than a process
keeps ready; the others are asked for once each.
"""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, cycle
from typing import Final
from uuid import uuid4

from bench import filling, goals, postgres, subjects
from bench.goals import Goal
from bench.load import Load
from bench.partner import GatewaySite, Partner, make_partner, write_configuration
from bench.postgres import NoServer
from bench.rounds import Subject
from bench.subjects import Stage
from gateway.domain.accounts.accounts import Account, BankCoordinates
from gateway.runtime.records.packed_records import AccountPacking, PackedRecords

FIGURE: Final = "cold"
SQLITE: Final = "SQLite"
POSTGRESQL: Final = "PostgreSQL"
ROUND_S: Final = 0.5
"""At most: who is asked for once must not run out."""

PACKED: Final = "bytes of a packed account"

_STORED = 100_000
_PACKED = 50_000
_SEALED = 90
_FEW = 10
_IN_TURN = 20_000
_STRIDE = 101
"""From one to the next of them, after the first time: those that were kept ready first, and the
others, are then in every round."""
_SLACK = 1_000
"""Asked for beyond that before the first round, so that each was asked for once."""


def hot(store: str) -> str:
    """Name the gateway asked for few accounts."""
    return f"{store}, {_FEW} of {_STORED:,} accounts"


def in_turn(store: str) -> str:
    """Name the gateway asked for many accounts, again and again."""
    return f"{store}, {_IN_TURN:,} accounts in turn"


def first(store: str) -> str:
    """Name the gateway asked for accounts that nobody has asked for."""
    return f"{store}, each account for the first time"


def traced(store: str) -> str:
    """Name the gateway asked for few accounts, each time with another trace id."""
    return f"{store}, {_FEW} accounts, another trace id each"


def standing(stage: Stage, load: Load) -> Iterator[Subject]:
    """Start gateways on filled stores; PostgreSQL is left out, with a word, where there is none."""
    yield from _on(SQLITE, stage, stage.place("cold"), stage.prepared.partner, load)
    try:
        place = stage.place("cold-server", stage.started.enter_context(postgres.running()))
    except NoServer as problem:
        print(f"cold accounts on PostgreSQL are not measured: {problem}")
        return
    yield from _on(POSTGRESQL, stage, place, make_partner(write_configuration(place)), load)


def _on(
    store: str, stage: Stage, place: GatewaySite, partner: Partner, load: Load
) -> Iterator[Subject]:
    """Start one, and ask it in every way; ratios are made with the row before them."""
    ids = asyncio.run(filling.add_accounts(write_configuration(place), partner, _STORED))
    asked = [partner.request(each) for each in ids]
    plain = subjects.balance(stage.gateway(place), place, partner, load)
    few = replace(plain, figure=FIGURE, name=hot(store), order=_among(plain, asked[:_FEW]))
    many, others = asked[:_IN_TURN], asked[_IN_TURN:]
    again = [many[place * _STRIDE % _IN_TURN] for place in range(_IN_TURN)]
    yield few
    yield replace(
        few,
        name=in_turn(store),
        order=_turns(plain, chain(many, cycle(again))),
        warming=_IN_TURN + _SLACK,
    )
    yield replace(few, name=first(store), order=_turns(plain, iter(others)))
    yield replace(few, name=traced(store), order=_turns(plain, _traced(asked[:_FEW])))


def packed_bytes() -> dict[str, list[float]]:
    """Measure what a packed account takes in memory, its key and its place included."""
    packed = PackedRecords(AccountPacking(), _STORED)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(_PACKED):
            account = _usual()
            packed.put(account.id, account, 0.0)
        account = _usual()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return {PACKED: [(after - before) / _PACKED]}


def _usual() -> Account:
    """Make an account with a token of usual length for its bank."""
    return Account(
        id=str(uuid4()),
        company_id=str(uuid4()),
        name="Padaria do Bairro Ltda",
        tax_number="11222333000181",
        active=True,
        verified=True,
        provider="sandbox",
        provider_account=str(uuid4()),
        sealed_credentials=os.urandom(_SEALED),
        coordinates=BankCoordinates(
            bank_number="341", ispb="60701190", branch="0001", account="12345678-9"
        ),
        created_at=datetime.now(UTC),
    )


def _among(plain: Subject, asked: Sequence[bytes]) -> subjects.Order:
    return replace(plain.order, request=asked[0], others=asked[1:])


def _turns(plain: Subject, asked: Iterator[bytes]) -> subjects.Order:
    return replace(plain.order, turns=asked)


def _traced(asked: Sequence[bytes]) -> Iterator[bytes]:
    """Send each with a trace id of its own."""
    for each in cycle(asked):
        yield each.removesuffix(b"\r\n") + b"X-Trace-ID: %s\r\n\r\n" % str(uuid4()).encode()


def _goal(meaning: str, reach: float, fails_above: float, pair: tuple[str, str]) -> Goal:
    return Goal(
        name="cold",
        meaning=meaning,
        reach=reach,
        fails_above=fails_above,
        values=goals.cpu_ratio(*pair),
    )


GOALS: Final = (
    _goal("in turn / few, SQLite, CPU", 1.10, 1.25, (in_turn(SQLITE), hot(SQLITE))),
    _goal("in turn / few, PostgreSQL, CPU", 1.20, 1.4, (in_turn(POSTGRESQL), hot(POSTGRESQL))),
    _goal("first time / few, SQLite, CPU", 2.5, 3.0, (first(SQLITE), hot(SQLITE))),
    _goal("first time / few, PostgreSQL, CPU", 2.5, 3.0, (first(POSTGRESQL), hot(POSTGRESQL))),
    Goal(
        name="cold",
        meaning=PACKED,
        reach=400,
        values=goals.value(PACKED),
    ),
)
