"""Rules every table keeps."""

from sqlalchemy import DateTime, Float, Numeric

from gateway.store.tables.core import METADATA, attempts, payouts

COLUMNS = [column for table in METADATA.tables.values() for column in table.columns]


def test_no_column_is_a_float_or_a_plain_date_time() -> None:
    """Amounts are whole centavos; instants have a type of ours."""
    assert len(COLUMNS) > 100
    assert [
        str(each) for each in COLUMNS if isinstance(each.type, (Numeric, Float, DateTime))
    ] == []


def test_a_payout_s_key_is_its_account_and_reference() -> None:
    """Attempts have that key and a number."""
    key = ["account_id", "reference_sha256"]

    assert list(payouts.primary_key.columns.keys()) == key
    assert list(attempts.primary_key.columns.keys()) == [*key, "number"]
