"""A table with a column of each kind that drivers bind in their own ways."""

from sqlalchemy import Column, Date, LargeBinary, MetaData, Table, Text

from gateway.store.tables.columns import Instant

THINGS = Table(
    "things",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("at", Instant),
    Column("day", Date),
    Column("content", LargeBinary),
)
