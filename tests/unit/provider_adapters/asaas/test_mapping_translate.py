"""The bank's answers as values."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.providers import BadReply, NotFound, ProviderError
from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import Money, Sum
from gateway.core.windows import Window
from provider_adapters.asaas import mapping
from tests.world.banks.asaas import E2E, answer, refused
from tests.world.tables import cases

DAY = date(2026, 11, 22)
ROW = {"id": "1", "value": -10.5, "type": "PIX_TRANSACTION_DEBIT", "date": "2026-11-22"}
RECEIVED = {
    "id": "pix_1",
    "endToEndIdentifier": E2E,
    "value": 7.5,
    "refundedValue": None,
    "effectiveDate": "2026-11-22 09:00:00",
    "status": "DONE",
    "type": "CREDIT",
    "externalAccount": {"name": "Maria\nSilva", "cpfCnpj": "***.982.247-**"},
}


def rows(*each: dict[str, object], more: bool | None = None) -> object:
    return answer({"data": list(each)} | ({} if more is None else {"hasMore": more}))


def entry(**changes: object):  # type: ignore[no-untyped-def]
    found, _ = mapping.movements(rows(ROW | changes))  # type: ignore[arg-type]
    return mapping.entries(found, {"pay_pix"})[0]


def test_a_balance_is_exact_without_blocked_amount_or_time():
    balance = mapping.balance(answer(b'{"balance": 1234567.89}'))

    assert (balance.balance, balance.blocked, balance.updated_at) == (Sum(123456789), None, None)


@cases("value", ['"10.50"', "10.505", "1e400", "null", "NaN", "true"])
def test_an_invalid_amount_in_reais_is_a_bad_reply(value: str):
    with pytest.raises(BadReply):
        mapping.balance(answer(b'{"balance": %s}' % value.encode()))


@cases(
    ("value", "direction", "centavos"),
    [(-10.5, Direction.DEBIT, 1050), (0.01, Direction.CREDIT, 1), (100, Direction.CREDIT, 10000)],
)
def test_the_sign_of_a_movement_gives_its_direction(
    value: float, direction: Direction, centavos: int
):
    found = entry(value=value)

    assert (found.direction, found.value) == (direction, Money(centavos))


def test_a_movement_has_the_start_of_its_day_in_sao_paulo():
    assert entry().created_at == datetime(2026, 11, 22, 3, tzinfo=UTC)


@cases(
    ("changes", "is_pix", "kind"),
    [
        ({}, True, MovementKind.PIX),
        ({"type": "PIX_TRANSACTION_DEBIT_REFUND"}, True, MovementKind.PIX_RETURN),
        ({"type": "PIX_TRANSACTION_DEBIT_FEE"}, False, MovementKind.FEE),
        ({"type": "TRANSFER"}, False, MovementKind.TED),
        ({"type": "PAYMENT_RECEIVED", "paymentId": "pay_pix"}, True, MovementKind.PIX),
        ({"type": "PAYMENT_RECEIVED", "paymentId": "pay_boleto"}, False, MovementKind.OTHER),
        ({"type": "PAYMENT_RECEIVED", "paymentId": None}, False, MovementKind.OTHER),
        ({"type": "NOVO"}, False, MovementKind.OTHER),
    ],
)
def test_only_listed_kinds_are_pix(changes: dict[str, object], is_pix: bool, kind: MovementKind):
    found = entry(**changes)

    assert (found.is_pix, found.kind) == (is_pix, kind)


def test_the_fee_of_a_pix_charge_is_not_pix():
    found = entry(type="PAYMENT_FEE", paymentId="pay_pix")

    assert (found.is_pix, found.kind) == (False, MovementKind.FEE)


def test_an_unlisted_kind_is_counted():
    said = rows(ROW | {"type": "NOVO"})

    mapping.movements(said)  # type: ignore[arg-type]

    assert said.unknown_words == 1


def test_paid_charges_are_collected_with_their_days():
    charge = {"type": mapping.CHARGE_RECEIVED, "paymentId": "pay_1"}
    found, _ = mapping.movements(rows(ROW, ROW | charge))  # type: ignore[arg-type]

    assert mapping.charge_days(found) == {"pay_1": DAY}


def test_charges_paid_by_pix_are_read_with_their_days():
    paid = {"id": "pay_1", "value": 1, "status": "RECEIVED", "paymentDate": "2026-11-22"}

    assert mapping.pix_charges(rows(paid, more=True)) == ({"pay_1": DAY}, True)  # type: ignore[arg-type]
    assert mapping.pix_charges(rows(more=True)) == ({}, False)  # type: ignore[arg-type]
    with pytest.raises(BadReply):
        mapping.pix_charges(rows(paid | {"paymentDate": None}))  # type: ignore[arg-type]


def test_a_key_of_an_unknown_state_is_pending_and_counted():
    document = {"id": "k", "key": "x", "type": "EVP", "status": "?", "dateCreated": "2026-11-22"}
    said = answer(document)

    key = mapping.changed_key(said)

    assert (key.status, said.unknown_words) == (PixKeyStatus.PENDING, 1)
    assert key.created_at == datetime(2026, 11, 22, 3, tzinfo=UTC)


@cases(
    ("shown", "ours"),
    [("47999999999", "+5547999999999"), ("+5547999999999", "+5547999999999"), (None, "")],
)
def test_a_phone_key_gets_its_country_code(shown: str | None, ours: str):
    document = {"id": "k", "key": shown, "type": "PHONE", "status": "ACTIVE"}

    key = mapping.changed_key(answer(document))

    assert (key.type, key.key) == (PixKeyType.PHONE, ours)


def test_a_received_payment_is_found_by_its_id():
    others = (RECEIVED | {"endToEndIdentifier": E2E[:-1] + "x"}, RECEIVED | {"type": "DEBIT"})

    found = mapping.received_payment(rows(*others, RECEIVED), E2E)  # type: ignore[arg-type]

    assert (found.e2e_id, found.value, found.refunded) == (E2E, Money(750), Money(0))
    assert found.paid_at == datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert found.payer is not None
    assert (found.payer.name, found.payer.tax_number) == ("Maria Silva", "***.982.247-**")


def test_a_refused_payment_is_not_found():
    with pytest.raises(NotFound):
        mapping.received_payment(rows(RECEIVED | {"status": "REFUSED"}), E2E)  # type: ignore[arg-type]


def at(moment: str, number: int) -> dict[str, object]:
    name = f"{E2E[:-1]}{number}"
    return RECEIVED | {"effectiveDate": moment, "id": name, "endToEndIdentifier": name}


@cases(
    ("moments", "goes_on"),
    [
        (["2026-11-23 09:00:00", "2026-11-22 09:00:00"], True),
        (["2026-11-22 09:00:00", "2026-11-20 09:00:00"], False),
        (["2026-11-20 09:00:00", "2026-11-22 09:00:00"], True),
        (["2026-11-20 09:00:00", "2026-11-20 09:00:00"], True),
        (["2026-11-20 09:00:00"], True),
        (["2026-11-22 09:00:00", "2026-11-23 09:00:00", "2026-11-20 09:00:00"], True),
    ],
)
def test_paging_stops_early_only_when_the_list_is_sorted(moments: list[str], goes_on: bool):
    listed = rows(*(at(each, number) for number, each in enumerate(moments)), more=True)

    page = mapping.received_payments(listed, Window(DAY, DAY), None)  # type: ignore[arg-type]

    assert (page.next_cursor is not None) is goes_on
    assert len(page.items) == sum(each.startswith("2026-11-22") for each in moments)


def test_an_entry_of_the_previous_page_is_not_repeated():
    first = mapping.received_payments(
        rows(at("2026-11-22 09:00:00", 1), more=True),  # type: ignore[arg-type]
        Window(DAY, DAY),
        None,
    )
    listed = rows(at("2026-11-22 09:00:00", 1), at("2026-11-22 08:00:00", 2))

    second = mapping.received_payments(listed, Window(DAY, DAY), first.next_cursor)  # type: ignore[arg-type]

    assert [each.e2e_id[-1] for each in (*first.items, *second.items)] == ["1", "2"]


@cases(
    ("said", "code"),
    [
        (refused(400, "invalid_value"), "invalid_value"),
        (answer({"errors": []}, 400), ""),
        (answer(b"<html>", 400), ""),
        (answer([], 400), ""),
    ],
)
def test_the_first_code_of_a_refusal_is_read(said: object, code: str):
    assert mapping.error_code(said) == code  # type: ignore[arg-type]


def test_any_refusal_in_the_bank_s_format_counts_as_reached():
    mapping.reached(refused(401, "access_token_not_found"))
    for said in (answer(b"", 401), answer(b"<html>", 200), answer(b"", 503)):
        with pytest.raises(ProviderError):
            mapping.reached(said)


def test_an_unconfirmed_removal_is_a_bad_reply():
    mapping.removed(answer({"id": "1", "deleted": True}))
    with pytest.raises(BadReply):
        mapping.removed(answer({"id": "1", "deleted": False}))


def test_a_value_composed_of_several_answers_may_be_a_bad_reply():
    with pytest.raises(BadReply):
        mapping.composed(lambda: date.fromisoformat("22/11/2026"))
