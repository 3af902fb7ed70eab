"""The work of the peers in Python: it is the gateway's, or the comparison means nothing."""

import base64
import json
import os
from dataclasses import asdict, replace

import pytest

from bench import stub
from bench.peers.given import given
from bench.peers.work import Work, answering, new_trace_id, translated
from bench.proxy import CANNED
from tests.proofs.bench.peers.work import ACCOUNT, TOLD


def basic(client_id: str, secret: str) -> str:
    """Write a header."""
    return f"Basic {base64.b64encode(f'{client_id}:{secret}'.encode()).decode()}"


@pytest.mark.parametrize(
    ("authorization", "account", "status"),
    [
        (basic("cli_1", "right"), ACCOUNT, 0),
        (basic("cli_1", "wrong"), ACCOUNT, 401),
        (basic("cli_2", "right"), ACCOUNT, 401),
        ("Bearer x", ACCOUNT, 401),
        (basic("cli_1", "right"), "else", 404),
        (basic("cli_1", "right"), ACCOUNT.replace("3", "4"), 404),
    ],
)
def test_only_the_right_secret_reads_its_own_account(authorization: str, account: str, status: int):
    assert Work(TOLD).refused(authorization, account) == status


def test_a_record_is_believed_for_a_while_only(monkeypatch):
    work = Work(TOLD)
    work.refused(basic("cli_1", "right"), ACCOUNT)

    work._told = replace(TOLD, client_id="cli_2")

    assert work.refused(basic("cli_1", "right"), ACCOUNT) == 0
    monkeypatch.setattr("bench.peers.work.time.monotonic", lambda: 1e12)
    assert work.refused(basic("cli_1", "right"), ACCOUNT) == 401


def test_the_balance_is_written_as_the_contract_has_it():
    assert translated(stub.BALANCE) == CANNED


def test_every_answer_has_a_trace_id_of_its_own():
    one, other = new_trace_id(), new_trace_id()

    assert one != other
    assert answering(one)["X-Trace-ID"] == one


def test_what_it_is_told_comes_from_the_environment(monkeypatch):

    monkeypatch.setitem(os.environ, "BENCH_PEER", json.dumps(asdict(TOLD)))

    assert given() == TOLD
