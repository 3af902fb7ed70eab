"""Payouts as a table."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from gateway.banks.port.payout_orders import FailureCode
from gateway.payouts.documents import FoundPayout, Orderer
from gateway.payouts.model import Absence, Failure, Payout, PayoutState
from gateway.payouts.report_file import HEAD, lines
from tests.world.stores.samples import payout


def read(*found: Payout) -> list[list[str]]:
    written = HEAD + lines(FoundPayout(each, "=Padaria") for each in found)
    return list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline=""), delimiter=";"))


def test_a_table_opens_in_a_portuguese_spreadsheet():
    """Byte order mark, semicolons, decimal comma, time of Brasilia; no formula, no complete CPF."""
    assert HEAD.startswith(b"\xef\xbb\xbf")
    head, line = read(payout("a;b\r\nc", centavos=123456))

    told = dict(zip(head, line, strict=True))
    assert told["Criado em (Brasília)"] == "20/11/2026 09:30:15"
    assert (told["Conta"], told["Referência"]) == ("'=Padaria", "a;b\r\nc")
    assert (told["Valor"], told["CPF/CNPJ"]) == ("1.234,56", "***.982.247-**")
    assert (told["Em revisão"], told["Liquidado em (Brasília)"]) == ("não", "")


def test_a_partner_s_reference_is_not_a_formula():
    """The partner chooses it, and a spreadsheet would execute it."""
    _, line = read(payout("=1+1"))

    assert line[3] == "'=1+1"


def test_every_state_has_a_word_in_the_file():
    for state in PayoutState:
        _, line = read(replace(payout(), state=state))

        assert line[8]


def test_failures_and_orderers_are_written_by_name():
    for code in FailureCode:
        failed = replace(payout(), state=PayoutState.REJECTED, failure=Failure(code))
        told = lines([FoundPayout(failed, "Matriz", ordered_by=Orderer("u", "Ana", "a@b.c"))])

        assert code.value not in told.decode()
        assert ";Ana;" in told.decode()


def test_a_payout_not_sent_is_written_as_not_sent():
    failed = replace(payout(), state=PayoutState.FAILED, failure=Failure(FailureCode.NOT_SENT))

    assert read(failed)[1][8::2][:2] == ["certamente não enviado", "não enviado no seu dia"]


def test_a_payout_not_executed_is_written_as_not_executed():
    """Before and after the end of its day: the order had left us."""
    reached = replace(payout(), state=PayoutState.NOT_SENT, absence=Absence.BANK)
    over = replace(reached, state=PayoutState.FAILED, failure=Failure(FailureCode.NOT_SENT))

    _, *told = read(reached, over)

    assert [each[8] for each in told] == ["não executado pelo banco"] * 2
    assert [each[10] for each in told] == ["", "não executado no seu dia"]
