"""The bank's answers about payouts, as outcomes."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    BadReply,
    NotFound,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from provider_adapters.kit.outcomes import Expected
from provider_adapters.sandbox import payouts, requests
from tests.unit.provider_adapters.sandbox.payouts import E2E, PAYOUT
from tests.unit.provider_adapters.sandbox.translate import refusing, saying
from tests.world.banks.harness import KEY, order
from tests.world.banks.witness import NOON
from tests.world.tables import cases

EXPECTED = Expected(KEY, Money(1050))
LOOKED_UP = Expected(KEY, None)


@cases(
    ("changed", "reason"),
    [
        ({}, "answered"),
        ({"nome": "M. Silva", "tipo_chave": "?"}, "answered"),
        ({"chave": "joao@example.com"}, "destination_mismatch"),
        ({"documento": "11222333000181"}, "destination_mismatch"),
        ({"forma": "conta"}, "destination_mismatch"),
        ({"conta": "1"}, "destination_mismatch"),
        (None, "destination_mismatch"),
    ],
)
def test_a_payout_read_back_must_have_the_ordered_destination(
    changed: dict[str, str] | None, reason: str
):
    """Names have many spellings and are not compared; a missing destination does not match."""
    expected = payouts.expected(order(), must_show=True)
    shown = None if changed is None else {**requests.destination(order()), **changed}

    outcome = payouts.found(saying({**PAYOUT, "destino": shown}), expected)

    assert outcome.evidence.reason == reason


@cases("status", [202, 204, 206])
def test_an_unused_success_status_is_not_accepted(status: int):
    with pytest.raises(BadReply):
        payouts.created(saying(PAYOUT, status), EXPECTED)


@cases("word", ["LIQUIDADA", "DEVOLVIDA"])
def test_a_returned_payout_is_still_settled(word: str):
    document = {**PAYOUT, "situacao": word, "liquidada_em": "2026-11-20T12:00:00Z"}

    outcome = payouts.found(saying(document), LOOKED_UP)

    assert isinstance(outcome, Settled)
    assert (outcome.value, outcome.settled_at) == (Money(1050), NOON)
    assert (outcome.provider_id, outcome.e2e_id) == ("trf_1", E2E)


@cases(
    ("failure", "code"),
    [
        ({"code": "KEY_NOT_FOUND"}, FailureCode.KEY_NOT_FOUND),
        ({"code": "SOMETHING"}, FailureCode.OTHER),
        (None, FailureCode.OTHER),
    ],
)
def test_a_failed_payout_is_rejected(failure: object, code: FailureCode):
    document = {**PAYOUT, "situacao": "FALHOU", "falha": failure}

    outcome = payouts.found(saying(document), LOOKED_UP)

    assert isinstance(outcome, Rejected)
    assert outcome.failure is code


@cases(
    ("wrong", "reason"),
    [
        ({"valor_centavos": 1049}, "amount_mismatch"),
        ({"chave_idempotencia": "0" * 32}, "key_mismatch"),
        ({"chave_idempotencia": None}, "key_mismatch"),
        ({"e2e": "E1"}, "e2e_id_malformed"),
        ({"e2e": ""}, "e2e_id_malformed"),
    ],
)
@cases("word", ["EM_PROCESSAMENTO", "LIQUIDADA", "FALHOU", "AGENDADA"])
def test_a_mismatched_answer_is_unknown_in_any_state(
    wrong: dict[str, object], reason: str, word: str
):
    """A wrong amount, key or id is neither success nor failure."""
    outcome = payouts.created(saying({**PAYOUT, "situacao": word, **wrong}), EXPECTED)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason


@cases(
    ("status", "code", "kind"),
    [
        (404, "NOT_FOUND", NotFound),
        (404, "KEY_NOT_FOUND", BadReply),
        (404, "", BadReply),
        (500, "NOT_FOUND", ProviderError),
    ],
)
def test_only_the_bank_s_own_error_code_means_not_found(
    status: int, code: str, kind: type[ProviderError]
):
    with pytest.raises(kind):
        payouts.found(refusing(status, code), LOOKED_UP)


@cases(
    ("status", "code"),
    [
        (400, "INVALID_REQUEST"),
        (400, "SOMETHING"),
        (400, ""),
        (400, "NOT_ALLOWED"),
        (401, ""),
        (401, "WRONG_ACCOUNT"),
        (403, "REJECTED"),
        (403, "UNAUTHORIZED"),
        (404, "NOT_FOUND"),
        (409, "REFERENCE_IN_USE"),
        (422, "KEY_REUSED"),
        (429, ""),
        (429, "INVALID_REQUEST"),
        (500, "REJECTED"),
        (503, "TOO_MANY_REQUESTS"),
        (200, "REJECTED"),
        (302, "REJECTED"),
    ],
)
def test_any_other_refusal_is_a_provider_error(status: int, code: str):
    """A code counts only with the status the bank lists it under."""
    with pytest.raises(ProviderError):
        payouts.created(refusing(status, code), EXPECTED)
