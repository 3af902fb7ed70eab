"""The warning of too few file descriptors."""

import logging

import pytest

from gateway.config.settings import Database, Server, Settings
from gateway.config.upstream import Provider
from gateway.process import process
from gateway.process.process import wanted_descriptors, warn_of_few_descriptors

SETTINGS = Settings(
    server=Server(connections=800),
    database=Database(pool=20),
    providers={"a": Provider(adapter="sandbox", in_flight=100, payout_connections=64)},
)


def test_the_wanted_descriptors_are_the_sum_of_all_limits_plus_a_fifth():
    assert wanted_descriptors(SETTINGS) == (800 + 20 + 164 + 16) * 1.2


@pytest.mark.parametrize(("limit", "told"), [(1_199, 1), (1_200, 0)])
def test_too_few_file_descriptors_cause_a_warning(
    limit: int, told: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(process, "descriptor_limit", lambda: limit)

    with caplog.at_level(logging.WARNING, "gateway"):
        warn_of_few_descriptors(SETTINGS)

    assert len(caplog.messages) == told
    assert all("1199" in each and "1200" in each for each in caplog.messages)
