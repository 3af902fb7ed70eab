"""What each answer about a refund proves."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotFound,
    NotSent,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import RefundStatus
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.kit import paging
from provider_adapters.woovi import mapping, refunds
from tests.world.banks.harness import KEY
from tests.world.banks.woovi import PAID_IN, answer, refund, refused
from tests.world.tables import cases

RETURN = "D09089356202611221032a543e325902"
SHOWN = {
    "correlationID": KEY,
    "value": 400,
    "status": "IN_PROCESSING",
    "refundId": "11bf5b37e0b842e08dcfdc8c4aefc000",
    "time": "2026-11-22T10:32:00.000Z",
    "comment": f"troca {PAID_IN}",
}
WINDOW = Window(date(2026, 11, 22), date(2026, 11, 22))


def created(document: object):
    return refunds.created(answer({"refund": document}), refund())


def found(document: object):
    return refunds.found(answer({"pixTransactionRefund": document}), KEY)


@cases(("word", "status"), mapping.REFUND_STATUSES.items())
def test_every_listed_refund_status_is_read(word, status):
    kinds = {
        RefundStatus.PROCESSING: Accepted,
        RefundStatus.PAID: Settled,
        RefundStatus.FAILED: Rejected,
    }

    assert isinstance(created({**SHOWN, "status": word}), kinds[status])
    assert found({**SHOWN, "status": word}).status is status


def test_an_unknown_refund_status_is_processing_and_counted():
    strange = {**SHOWN, "status": "EM_ANALISE"}
    said, shown = answer({"refund": strange}), answer({"pixTransactionRefund": strange})

    assert isinstance(refunds.created(said, refund()), Accepted)
    assert refunds.found(shown, KEY).status is RefundStatus.PROCESSING
    assert (said.unknown_words, shown.unknown_words) == (1, 1)


@cases(
    ("other", "reason"),
    [
        ({"correlationID": "x"}, "key_mismatch"),
        ({"value": 401}, "amount_mismatch"),
        ({"comment": "troca E18236120202611221030s0133872GZB"}, "e2e_id_malformed"),
    ],
)
def test_a_mismatched_refund_is_unknown(other, reason):
    outcome = created({**SHOWN, **other})

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason


def test_our_own_refund_has_its_payment_and_description():
    read = found({**SHOWN, "returnIdentification": RETURN})

    assert (read.payment_e2e_id, read.description) == (PAID_IN, "troca")
    assert (read.return_id, read.value) == (RETURN, Money(400))
    assert found({**SHOWN, "comment": PAID_IN}).description == ""


def test_a_refund_ordered_elsewhere_has_no_payment():
    read = found({**SHOWN, "comment": "feito à mão"})

    assert (read.payment_e2e_id, read.description) == ("", "feito à mão")


def test_without_a_time_a_refund_has_the_minute_in_its_return_id():
    read = found({**SHOWN, "time": None, "returnIdentification": RETURN})

    assert read.created_at == datetime(2026, 11, 22, 10, 32, tzinfo=UTC)
    with pytest.raises(BadReply):
        found({**SHOWN, "time": None})


@cases(
    "wrong", [{"correlationID": "x"}, {"value": 0}, {"value": 4.5}, {"returnIdentification": "D1"}]
)
def test_an_inconsistent_refund_is_a_bad_reply(wrong):
    with pytest.raises(BadReply):
        found({**SHOWN, **wrong})


def test_a_page_of_refunds_is_limited_to_its_window():
    said = {
        "refunds": [
            {**SHOWN, "time": "2026-11-21T23:59:59.999Z"},
            SHOWN,
            {**SHOWN, "time": "2026-11-22T23:00:00.000Z"},
            {**SHOWN, "time": "2026-11-23T00:00:00.000Z"},
        ],
        "pageInfo": {"skip": 0, "limit": 4, "hasNextPage": True},
    }

    page = refunds.page(answer(said), None, WINDOW)

    assert [each.created_at.hour for each in page.items] == [23, 10]
    assert paging.number_of(page.next_cursor) == 4


def test_a_refund_list_that_ignores_skip_is_a_bad_reply():
    said = {"refunds": [SHOWN], "pageInfo": {"skip": 0, "limit": 1, "hasNextPage": True}}

    with pytest.raises(BadReply):
        refunds.page(answer(said), "1", WINDOW)


def test_a_refund_with_a_refused_app_id_is_not_sent():
    said = answer({"data": None, "errors": [{"message": "appID inválido"}]}, 401)

    assert isinstance(refunds.created(said, refund()), NotSent)


def test_any_other_refusal_of_a_refund_is_a_provider_error():
    with pytest.raises(ProviderError):
        refunds.created(refused("valor maior que o pagamento"), refund())


def test_only_the_bank_s_own_sentence_means_refund_not_found():
    with pytest.raises(NotFound):
        refunds.found(refused("Refund not found"), KEY)
    with pytest.raises(BadReply):
        refunds.found(answer({}, 404), KEY)
