"""The catalogue of errors beside the contract's table."""

import re

from gateway.core.errors import CATALOGUE, ELSEWHERE, ServiceError

# Contract part 7, then the codes the contract has none for.
TABLE = """
SVC.AUT.001 401
SVC.AUT.002 401
SVC.AUT.009 401
SVC.AUT.010 401 403
SVC.VAL.001 400
SVC.VAL.006 400
SVC.VAL.007 400
SVC.VAL.008 400
SVC.VAL.009 400
SVC.VAL.011 400
SVC.ACC.001 404
SVC.ACC.002 400
SVC.ACC.003 400
SVC.ACC.005 403 422 502
SVC.ACC.006 502
SVC.ACC.007 502
SVC.PIX.002 404 502
SVC.PIX.005 404 502
SVC.PIX.007 502
SVC.PIX.010 400 403 502
SVC.PIX.011 404
SVC.PIX.012 400
SVC.PIX.013 400
SVC.PIX.014 400
SVC.PIX.017 404
SVC.PIX.018 501
SVC.SYS.001 500
SVC.SYS.002 503
SVC.GTW.001 404
SVC.GTW.002 405
SVC.GTW.003 413
SVC.GTW.004 408
SVC.GTW.005 429
SVC.GTW.006 503
SVC.GTW.007 431
SVC.GTW.008 422
SVC.GTW.009 409
SVC.GTW.010 403
SVC.GTW.011 412
SVC.GTW.012 404
INVALID_CREDENTIALS 401
"""


def test_the_catalogue_matches_the_contract_s_table():
    declared: dict[str, set[str]] = {}
    for error in CATALOGUE:
        declared.setdefault(error.code, set()).add(str(error.status))

    expected = {line.split()[0]: set(line.split()[1:]) for line in TABLE.strip().splitlines()}
    assert declared == expected


def test_no_answer_has_status_504():
    assert 504 not in {error.status for error in CATALOGUE}


def test_an_error_says_what_happened_and_what_to_do_in_whole_sentences():
    for error in CATALOGUE:
        for text in (error.message, error.remedy):
            assert re.fullmatch(r"[A-Z][ -~]+\.", text)


def test_names_and_messages_are_distinguished():
    assert len({error.name for error in CATALOGUE}) == len(CATALOGUE)
    assert len({(e.code, e.status, e.message) for e in CATALOGUE}) == len(CATALOGUE)


def test_codes_outside_the_banking_surface_are_in_the_catalogue():
    assert set(CATALOGUE) > ELSEWHERE


def test_a_refusal_prints_its_name_and_nothing_a_caller_sent():
    refusal = ServiceError(CATALOGUE[0], "missing", {"Retry-After": "2"})

    assert str(refusal) == CATALOGUE[0].name
    assert (refusal.reason, refusal.headers) == ("missing", {"Retry-After": "2"})
    assert ServiceError(CATALOGUE[0]).headers == {}
    assert ServiceError(CATALOGUE[0]).field == ""
