"""Every table with rows of a company is moved with it, or is named as one that stays."""

from gateway.cells.ownership import COUNTED_ANEW, INDEXES, OWNED, STAYING
from gateway.store.tables.every import METADATA

MARKS = {"account_id", "company_id", "companies", "client_id", "account", "subject", "hour"}
OF_PEOPLE = {
    *("users", "requests", "mailbox"),  # people are of a cell; a mail's subject is its first line
    "notifications",  # of people, too: an occasion's subject is a record
}


def test_every_table_of_a_company_is_copied_or_excepted():
    known = (
        {each.table.name for each in OWNED} | COUNTED_ANEW | INDEXES | STAYING.keys() | OF_PEOPLE
    )
    marked = {
        table.name for table in METADATA.sorted_tables if MARKS & {each.name for each in table.c}
    }

    assert marked - known == set()
    assert (known - OF_PEOPLE) - {table.name for table in METADATA.sorted_tables} == set()


def test_tables_are_copied_after_those_they_refer_to():
    """Rows are copied in this order, and deleted in the reverse one."""
    order = [each.table.name for each in OWNED]
    for each in OWNED:
        for key in each.table.foreign_keys:
            assert order.index(key.column.table.name) < order.index(each.table.name)


def test_an_event_that_is_copied_makes_no_delivery():
    """Where an endpoint is already, the database writes a delivery of each new event."""
    order = [each.table.name for each in OWNED]

    assert order.index("events") < order.index("endpoints") < order.index("deliveries")


def test_every_column_is_copied_except_generated_ones():
    left_out = {
        f"{each.table.name}.{column.name}"
        for each in OWNED
        for column in each.table.columns
        if column.name not in each.columns
    }

    assert left_out == {"payout_events.number", "events.number", "payouts.exception"}
