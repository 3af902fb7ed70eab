"""Which check refused a call, and what became of the others."""

from __future__ import annotations

from gateway.traces.model import (
    CHECKS,
    CheckState,
    Refusal,
    ladder_of,
    sentence,
    step_of,
)


def refusal(status: int, code: str, reason: str = "", **changed: str) -> Refusal:
    told = {"surface": "banking", "route": "banking.payout_create", "method": "POST"} | changed
    return Refusal(status=status, code=code, reason=reason, **told)


def test_each_refusal_belongs_to_the_check_that_caused_it():
    cases = [
        (refusal(200, ""), 0),
        (refusal(400, "SVC.VAL.011", "head", surface="none", route="none"), 1),
        (refusal(503, "SVC.GTW.006", "draining"), 3),
        (refusal(413, "SVC.GTW.003", "declared"), 6),
        (refusal(413, "SVC.GTW.003", "body"), 17),
        (refusal(429, "SVC.GTW.005", "address_blocked"), 7),
        (refusal(429, "SVC.GTW.005", "throttled"), 8),
        (refusal(429, "SVC.GTW.005", "quota_company"), 9),
        (refusal(401, "SVC.AUT.010", "expired"), 8),
        (refusal(400, "SVC.VAL.001", "missing"), 17),
        (refusal(400, "SVC.VAL.001", "missing", method="GET", route="banking.statement"), 16),
        (refusal(400, "SVC.VAL.008", "not_today"), 19),
        (refusal(403, "SVC.GTW.010", "limit_per_day"), 20),
        (refusal(422, "SVC.ACC.005", "no_provider"), 20),
        (refusal(500, "SVC.SYS.001", "StoreUnavailable", payout="intent_failed"), 21),
        (refusal(502, "SVC.ACC.005", "not_supported"), 22),
        (refusal(400, "SVC.PIX.010", "insufficient_funds", payout="rejected"), 22),
    ]

    wrong = [(found, step) for found, step in cases if step_of(found) != step]

    assert wrong == []


def states(found: Refusal) -> dict[int, CheckState]:
    return {each.number: each.state for each in ladder_of(found)}


def test_checks_after_a_refusal_were_not_reached():
    found = states(refusal(403, "SVC.AUT.010", "scope"))

    assert list(found) == [*range(1, 16), *range(17, 23)]
    assert {number for number, state in found.items() if state is CheckState.PASSED} == set(
        range(1, 13)
    )
    assert found[13] is CheckState.REFUSED
    assert found[14] is found[22] is CheckState.NOT_REACHED


def test_a_read_has_only_the_checks_for_reads():
    balance = refusal(200, "", method="GET", route="banking.balance")
    unknown = refusal(404, "SVC.GTW.001", "no_route", surface="none", route="none")

    assert list(states(balance)) == [*range(1, 17), 20, 22]
    assert set(states(balance).values()) == {CheckState.PASSED}
    assert list(states(unknown)) == [*range(1, 7)]
    assert ladder_of(refusal(403, "FORBIDDEN", "permission", surface="backoffice")) == []


def test_a_repeated_payout_passed_its_intent_and_was_not_sent_again():
    found = states(refusal(200, "", payout="duplicate"))

    assert found[18] is CheckState.PASSED
    assert found[21] is CheckState.NOT_REACHED


def test_every_check_has_a_sentence():
    assert list(CHECKS) == list(range(1, 23))
    assert all(each.endswith(".") for each in CHECKS.values())
    assert sentence("{a} and {b}.", {"a": "1", "b": "2"}).text == "1 and 2."
