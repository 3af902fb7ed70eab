"""Who may ask the bank, and how it refuses."""

from __future__ import annotations

import pytest

from provider_adapters.starkbank import words
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.starkbank.dialect import SIMULATORS, STARKBANK, refusal
from tests.world.banks.signers import ecdsa
from tests.world.tables import cases


def test_a_signature_of_the_bank_s_own_library_is_taken(ask):
    status, document = ask("GET", "/v2/balance")

    assert status == 200
    assert document["balances"][0]["amount"] == 1_000_000_00


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"Access-Id": "project/1"}, "invalidAccessId"),
        ({"Access-Id": ""}, "invalidAccessId"),
        ({"Access-Time": "1"}, "invalidSignature"),
        ({"Access-Time": "now"}, "invalidSignature"),
        ({"Access-Signature": ""}, "invalidSignature"),
        ({"Access-Signature": "AAAA"}, "invalidSignature"),
        ({"Access-Signature": ecdsa().sign(b"x")}, "invalidSignature"),
        ({"body": "{}"}, "invalidSignature"),
    ],
)
def test_any_other_is_refused(ask, wrong: dict[str, str], code: str):
    status, document = ask("GET", "/v2/balance", **wrong)

    assert (status, document["errors"][0]["code"]) == (400, code)


def test_an_old_signature_is_not_taken_again(ask, wall):
    then = str(wall().timestamp())
    wall.move(301)

    assert ask("GET", "/v2/balance", **{"Access-Time": then})[0] == 400


def test_the_bank_s_own_clock_may_be_elsewhere(ask, books):
    books.clock.move(90 * 86400.0)

    assert ask("GET", "/v2/balance")[0] == 200


@cases("code", list(Code))
def test_every_refusal_has_the_bank_s_shape(code: Code):
    answer = refusal(Refusal(code, "payout not found"))

    assert answer.status >= 400
    (error,) = answer.document["errors"]
    assert error["code"].isalnum()
    assert error["code"][0].islower()


def test_what_is_absent_is_named_by_its_kind():
    absent = Refusal(Code.NOT_FOUND, "payout not found")

    said = refusal(absent).document["errors"][0]["code"]

    assert said == "invalidTransfer"
    assert said in words.NOT_FOUND


def test_a_bare_status_says_no_more():
    bare = Refusal(Code.NOT_FOUND, "the request failed", status=404)

    assert refusal(bare).status == 404
    assert refusal(bare).document["errors"][0]["code"] not in words.NOT_FOUND


def test_it_is_one_of_the_banks_that_can_be_simulated():
    assert SIMULATORS["starkbank"].dialect is STARKBANK
    assert STARKBANK.secret_headers == {"access-signature"}
