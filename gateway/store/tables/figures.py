"""Tables of stored figures, and their expressions."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.store.tables.columns import Instant
from gateway.store.tables.core import METADATA

CALL_BOUNDS_S: Final = (
    *(0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25),
    *(0.5, 1, 2, 3, 5, 8, 12, 20, 30),
)
"""Upper bounds in seconds of how long calls took; the metrics have the same."""
PLACES: Final = len(CALL_BOUNDS_S) + 1

# Hours of which every payout is final: nothing in them changes any more. One without payouts
# has no row in ``payout_hours``.
closed_hours = Table(
    "closed_hours",
    METADATA,
    Column("hour", Instant, primary_key=True, autoincrement=False),
)

payout_hours = Table(
    "payout_hours",
    METADATA,
    Column("hour", Instant, primary_key=True),
    Column("company_id", Text, primary_key=True),
    Column("state", Text, primary_key=True),
    Column("certainty", Text, primary_key=True),
    Column("settled_within", Integer, primary_key=True),
    Column("payouts", BigInteger, nullable=False),
    Column("centavos", BigInteger, nullable=False),
    Column("moved_centavos", BigInteger, nullable=False),
)

# Of one process at one bank; ``minute`` is counted from 1970, and ``took_0`` and so on count the
# calls by how long they took.
provider_minutes = Table(
    "provider_minutes",
    METADATA,
    Column("provider", Text, primary_key=True),
    Column("operation", Text, primary_key=True),
    Column("minute", BigInteger, primary_key=True, autoincrement=False),
    Column("worker", Text, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("ok", Integer, nullable=False),
    Column("last_failure", Text, nullable=False),
    *(Column(f"took_{place}", Integer, nullable=False) for place in range(PLACES)),
    Index("ix_provider_minutes_minute", "minute"),
)

# What an account held when its bank was last asked; who sets out to ask says so first.
account_readings = Table(
    "account_readings",
    METADATA,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("balance", BigInteger),
    Column("blocked", BigInteger),
    Column("read_at", Instant),
    Column("asked_at", Instant),
)


# What credentials, accounts and companies paid out in an hour, to all payees and to those never
# paid before; ``peak_`` is of the highest five minutes. ``amounts`` counts payouts to new payees by
# the step of their amount, as JSON.
outflow_hours = Table(
    "outflow_hours",
    METADATA,
    Column("scope", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("hour", Instant, primary_key=True, autoincrement=False),
    *(
        Column(f"{prefix}{name}", BigInteger, nullable=False)
        for prefix in ("", "peak_")
        for name in ("payouts", "centavos", "new_payouts", "new_centavos")
    ),
    Column("amounts", Text, nullable=False),
    Index("ix_outflow_hours_hour", "hour"),
)

# Whom a company has paid, since when, and to a week, when last: a digest of where the money goes.
outflow_payees = Table(
    "outflow_payees",
    METADATA,
    Column("company_id", Text, ForeignKey("companies.id"), primary_key=True),
    Column("payee", LargeBinary, primary_key=True),
    Column("first_at", Instant, nullable=False),
    Column("last_at", Instant, nullable=False),
    Index("ix_outflow_payees_last_at", "last_at"),
)

# Until when both are complete.
outflow_progress = Table(
    "outflow_progress",
    METADATA,
    Column(
        "one",
        Integer,
        CheckConstraint("one = 1", name="one"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("until", Instant, nullable=False),
)

# Subjects that were outside their envelope, and the measure that showed it first.
outflow_trips = Table(
    "outflow_trips",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("company_id", Text, ForeignKey("companies.id"), nullable=False),
    Column("scope", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("measure", Text, nullable=False),
    Column("window_s", Integer, nullable=False),
    Column("value", BigInteger, nullable=False),
    Column("bound", BigInteger, nullable=False),
    Column("above", BigInteger, nullable=False),
    Column("at", Instant, nullable=False),
    # When it was last seen outside.
    Column("seen_at", Instant, nullable=False),
    # The stop that the guard made; absent where it watches.
    Column("stop_id", Text),
    Index("ix_outflow_trips_at", "at"),
)


class HourOf(FunctionElement[Any]):
    """The beginning of an instant's UTC hour."""

    name = "hour_of"
    inherit_cache = True
    type = Instant()


class SecondsBetween(FunctionElement[float]):
    """Seconds from the first instant to the second."""

    name = "seconds_between"
    inherit_cache = True
    type = Float()


@compiles(HourOf, "sqlite")
def _hour_in_microseconds(element: HourOf, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    at = compiler.process(element.clauses, **options)
    return f"({at} / 3600000000 * 3600000000)"


@compiles(HourOf, "postgresql")
def _hour_of_timestamp(element: HourOf, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    return f"date_trunc('hour', {compiler.process(element.clauses, **options)}, 'UTC')"


@compiles(SecondsBetween, "sqlite")
def _microseconds(element: SecondsBetween, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    start, end = (compiler.process(each, **options) for each in element.clauses)
    return f"(({end} - {start}) / 1000000.0)"


@compiles(SecondsBetween, "postgresql")
def _interval(element: SecondsBetween, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    start, end = (compiler.process(each, **options) for each in element.clauses)
    return f"EXTRACT(EPOCH FROM ({end} - {start}))"
