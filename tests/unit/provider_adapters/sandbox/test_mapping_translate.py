"""The bank's words into ours, for reads."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port import providers
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.pix_keys import KeyOwner, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import BadReply
from gateway.banks.port.statements import Block, BlockKind, MovementKind
from gateway.core.money import Money
from provider_adapters.sandbox import mapping
from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.translate import AT, KEY, refusing, saying
from tests.world.banks.witness import NOON
from tests.world.tables import cases

CHARGE = {
    "referencia": "r", "tipo": "DINAMICA", "chave": "a@b.c", "valor_centavos": 1050,
    "situacao": "ATIVA", "reutilizavel": False,
    "pagador": {"nome": "Maria", "documento": "52998224725", "mensagem": "m"},
    "recebedor": {"nome": "Loja", "documento": "11222333000181"},
    "cidade": "Sao Paulo", "cep": "01310-100", "copia_e_cola": "000201",
    "criada_em": AT, "expira_em": None,
}  # fmt: skip
ENTRY = {
    "id": "1", "tipo": "PIX_RECEBIDO", "natureza": "C", "valor_centavos": 1050, "e2e": E2E_ID,
    "descricao": "d", "contraparte": {"nome": "Maria", "documento": "1"}, "criado_em": AT,
}  # fmt: skip


BLOCK = {"tipo": "MED", "valor_centavos": 1050, "desde": AT, "referencia": "ID-7"}


@cases(
    ("word", "kind", "heard"),
    [
        *((word, kind, 0) for word, kind in mapping.BLOCK_KINDS.items()),
        ("OUTRO", BlockKind.BANK, 1),
    ],
)
def test_each_kind_of_block_is_read(word: str, kind: BlockKind, heard: int):
    said = saying({"bloqueios": [{**BLOCK, "tipo": word}]})
    [block] = mapping.blocks(said)

    assert block == Block(kind=kind, value=Money(1050), since=NOON, reference="ID-7")
    assert said.unknown_words == heard


@cases(
    ("word", "status", "heard"),
    [
        ("ATIVA", PixKeyStatus.ACTIVE, 0),
        ("PENDENTE", PixKeyStatus.PENDING, 0),
        ("CANCELADA", PixKeyStatus.CANCELED, 0),
        ("BLOQUEADA", PixKeyStatus.PENDING, 1),
    ],
)
def test_a_key_of_an_unknown_status_is_pending(word: str, status: PixKeyStatus, heard: int):
    said = saying({"chaves": [{**KEY, "situacao": word}]})

    [key] = mapping.keys(said)

    assert (key.status, said.unknown_words) == (status, heard)


@cases(
    ("word", "status", "heard"),
    [
        ("ATIVA", ChargeStatus.ACTIVE, 0),
        ("PAGA", ChargeStatus.PAID, 0),
        ("CANCELADA", ChargeStatus.CANCELED, 0),
        ("EM_ANALISE", ChargeStatus.ACTIVE, 1),
    ],
)
def test_a_charge_of_an_unknown_status_is_active(word: str, status: ChargeStatus, heard: int):
    said = saying({**CHARGE, "situacao": word})

    charge = mapping.charge(said, NOON)

    assert (charge.status, charge.expires_at, said.unknown_words) == (status, None, heard)


@cases(
    ("word", "is_pix", "kind"),
    [
        ("PIX_RECEBIDO", True, MovementKind.PIX),
        ("PIX_ENVIADO", True, MovementKind.PIX),
        ("DEVOLUCAO_RECEBIDA", True, MovementKind.PIX_RETURN),
        ("DEVOLUCAO_ENVIADA", True, MovementKind.PIX_RETURN),
        ("TARIFA", False, MovementKind.FEE),
        ("TED_RECEBIDA", False, MovementKind.TED),
        ("TED_ENVIADA", False, MovementKind.TED),
        ("BOLETO_RECEBIDO", False, MovementKind.BOLETO),
        ("BOLETO_PAGO", False, MovementKind.BOLETO),
        ("CASHBACK", False, MovementKind.OTHER),
    ],
)
def test_only_listed_words_are_pix(word: str, is_pix: bool, kind: MovementKind):
    said = saying({"lancamentos": [{**ENTRY, "tipo": word}], "proximo_cursor": "next"})

    page = mapping.statement(said)

    entry = page.items[0]
    assert (entry.is_pix, entry.kind, page.next_cursor) == (is_pix, kind, "next")
    assert said.unknown_words == (kind is MovementKind.OTHER)


@cases(
    "wrong",
    [
        {"natureza": "X"},
        {"valor_centavos": -1},
        {"valor_centavos": 1.5},
        {"criado_em": None},
        {"valor_centavos": 10**15},
        {"criado_em": "0001-01-01T00:00:00+05:00"},
        {"criado_em": "2026-11-20T13:40:11.123"},
    ],
)
def test_an_unreadable_entry_makes_the_page_a_bad_reply(wrong: dict[str, object]):
    """A missing movement, or one with a wrong sign, would be worse than none."""
    document = {"lancamentos": [{**ENTRY, **wrong}], "proximo_cursor": None}

    with pytest.raises(providers.BadReply):
        mapping.statement(saying(document))


OWNER = {
    "chave": "a@b.c", "tipo": "email", "titular": {"nome": "Maria", "documento": "52998224725"},
    "banco": "888", "nome_banco": "Outro", "ispb": "88888888", "agencia": "0001", "conta": "1-2",
}  # fmt: skip


def test_an_owner_s_tax_number_is_masked_even_when_the_bank_returns_it():
    assert mapping.owner(saying(OWNER)) == KeyOwner(
        key="a@b.c", type=PixKeyType.EMAIL, name="Maria", tax_number="***.982.247-**",
        ispb="88888888", bank_number="888", bank_name="Outro", branch="0001", account="1-2",
    )  # fmt: skip


@cases("stated", [None, "2026-11-20T11:00:00Z", "2026-11-20T13:00:00Z"])
def test_a_charge_the_bank_reports_as_expired_is_expired_by_our_clock_too(stated: str | None):
    document = {**CHARGE, "situacao": "EXPIRADA", "expira_em": stated}

    charge = mapping.charge(saying(document), NOON)

    assert charge.is_expired(NOON)


RECEIVED = {
    "id": "1000000012", "referencia": "order-1", "e2e": E2E_ID, "valor_centavos": 1050,
    "devolvido_centavos": 50, "pago_em": AT,
    "pagador": {"nome": "Maria", "documento": "1", "mensagem": "oi"},
}  # fmt: skip


@cases(
    "wrong",
    [
        {"e2e": "E1"},
        {"valor_centavos": 0},
        {"valor_centavos": -1, "devolvido_centavos": 0},
        {"devolvido_centavos": -1},
        {"devolvido_centavos": 1051},
    ],
)
def test_an_inconsistent_payment_is_a_bad_reply(wrong: dict[str, object]):
    with pytest.raises(BadReply):
        mapping.received_payment(saying({**RECEIVED, **wrong}))


@cases(
    ("status", "code", "kind"),
    [
        (404, "NOT_FOUND", providers.NotFound),
        (404, "", providers.BadReply),
        (404, "SOMETHING", providers.BadReply),
        (403, "WRONG_ACCOUNT", providers.CredentialsRefused),
        (401, "UNAUTHORIZED", providers.CredentialsRefused),
        (400, "NOT_FOUND", providers.Refused),
        (500, "NOT_FOUND", providers.Unavailable),
    ],
)
def test_an_error_is_classified_by_status_and_code(
    status: int, code: str, kind: type[providers.ProviderError]
):
    with pytest.raises(kind) as failed:
        mapping.balance(refusing(status, code))

    assert type(failed.value) is kind
    assert "canary" not in str(failed.value)


def test_any_answer_in_the_bank_s_format_counts_as_reached():
    assert mapping.reached(refusing(404, "NOT_FOUND")) is None
    with pytest.raises(providers.ProviderError):
        mapping.reached(ProviderAnswer(status=200, headers={}, body=b"<html>"))


def test_times_are_converted_to_utc():
    document = {**CHARGE, "expira_em": "2026-11-20T10:00:00-03:00"}

    charge = mapping.charge(saying(document), NOON)

    assert charge.expires_at == NOON + timedelta(hours=1)
    assert charge.expires_at.tzinfo is UTC
