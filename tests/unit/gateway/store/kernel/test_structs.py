"""Structs as rows, and back; the store contract suite asks both databases."""

from gateway.stops.model import Stop
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.core import stops
from tests.world.stops import STOP


class Row:
    def __init__(self, **columns: object) -> None:
        self.__dict__.update(columns, lifted_at=None)


def test_a_struct_is_read_back_from_the_row_that_was_made_of_it():
    row = row_of(STOP)

    assert type(row["scope"]) is str
    assert row.keys() < set(stops.c.keys())
    assert from_row(Row(**row), Stop) == STOP  # type: ignore[arg-type] # as a driver's row
