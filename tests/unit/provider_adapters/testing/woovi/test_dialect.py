"""How the simulated Woovi refuses: nearly always 400 and a sentence."""

from __future__ import annotations

from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, of_status
from provider_adapters.testing.woovi.dialect import WOOVI
from tests.world.tables import cases


@cases("code", sorted(set(Code) - {Code.UNAUTHORIZED, Code.INTERNAL}))
def test_every_refusal_has_a_sentence(code: Code):
    answer = WOOVI.refusal(Refusal(code, "because"))
    said = answer.document

    assert isinstance(said, dict)
    assert said["error"]
    assert answer.status in {400, 404, 405, 413, 429}


@cases("status", [500, 503])
def test_a_failure_says_nothing_more(status: int):
    answer = WOOVI.refusal(of_status(status))

    assert (answer.status, answer.document) == (status, {"error": "Internal server error"})


def test_a_bare_401_of_what_was_executed_does_not_say_that_it_was_not():
    answer = WOOVI.refusal(of_status(401, executed=True))

    assert "errors" not in dict(answer.document)  # type: ignore[call-overload]


@cases(
    ("books_say", "bank_says"),
    [
        ("payout", "Payment not found"),
        ("payment", "Transaction not found"),
        ("charge", "Charge not found"),
        ("refund", "Refund not found"),
    ],
)
def test_what_is_absent_is_a_400_by_its_name_at_the_bank(books_say: str, bank_says: str):
    answer = WOOVI.refusal(Refusal(Code.NOT_FOUND, f"{books_say} not found"))

    assert (answer.status, answer.document) == (400, {"error": bank_says})


def test_a_missing_path_is_a_404():
    assert WOOVI.refusal(of_status(404)).status == 404
