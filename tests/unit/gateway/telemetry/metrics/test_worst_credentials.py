"""The credentials that get most errors."""

from datetime import UTC, datetime, timedelta

from gateway.telemetry.metrics.worst_credentials import WorstCredentials
from gateway.telemetry.records import AccessRecord

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
WHO = {"client_id": "c", "company_id": "k"}


def test_errors_are_distinguished_and_forgotten_after_five_minutes():
    worst, found = WorstCredentials(), {}
    for status in (429, 400, 404, 501, 500, 503, 502):
        worst.add(AccessRecord(trace_id="t", status=status, **WHO), NOON)
    worst.add(AccessRecord(trace_id="t", status=429, **WHO), NOON + timedelta(minutes=2))

    for minutes in (0, 2, 4, 5, 7):
        figures = worst.figures(NOON + timedelta(minutes=minutes))
        found[minutes] = {result: count for (*_, result), count in figures.items()}

    first = {"refused": 3, "failed": 2, "bank_failed": 1}
    assert found == {
        0: {**first, "limited": 1},
        2: {**first, "limited": 2},
        4: {**first, "limited": 2},
        5: {"limited": 1},
        7: {},
    }


def test_credential_errors_older_than_five_minutes_are_dropped():
    """Credentials come and go; minutes that are over are kept until the next error at most."""
    worst = WorstCredentials()
    for minute in range(1000):
        worst.add(AccessRecord(trace_id="t", status=500, **WHO), NOON + timedelta(minutes=minute))

    assert len(worst._minutes) == 5
