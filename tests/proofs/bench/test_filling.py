"""Stores with much in them: what is asked for is found, and made as the gateway makes it."""

import os
import sqlite3
from contextlib import closing

import pytest

from bench import filling, stub
from bench.partner import GatewaySite, prepare, write_configuration
from gateway.config.reading import read_settings
from gateway.security.keys import load_keys


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A store with a partner in it."""
    return prepare(tmp_path_factory.mktemp("filling") / "prepared")


@pytest.fixture
def config(prepared):
    """Its configuration."""
    place = GatewaySite(folder=prepared.folder, database="", port=1, operations=2, bank=3)
    return write_configuration(place)


def rows(prepared, statement: str) -> list[tuple[object, ...]]:
    """Look into the store."""
    with closing(sqlite3.connect(prepared.folder / "pixgate.db")) as database:
        return database.execute(statement).fetchall()


def test_every_account_has_credentials_that_open(prepared, config):
    ids = filling.fill_accounts(config, prepared.partner, 5)

    opened = load_keys(read_settings(config, os.environ)).sealer.open
    stored = dict(rows(prepared, "SELECT id, sealed_credentials FROM accounts"))
    assert len(set(ids)) == 5
    assert {opened(stored[each], each) for each in ids} == {stub.TOKEN}


def test_payouts_of_today_are_asked_for_and_all_others_are_older(prepared, config):
    asked = filling.fill_payouts(config, prepared.partner, 100)

    stored = rows(
        prepared, "SELECT reference, state, next_check_at FROM payouts ORDER BY created_at"
    )
    assert len(stored) == 100
    assert {reference for reference, _, _ in stored[-filling.ASKED :]} == set(asked)
    assert {(state, check) for _, state, check in stored} == {("paid", None)}
