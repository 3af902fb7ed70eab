"""The bank's documents."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters.sandbox import documents
from tests.world.tables import cases

SECRET = {"nome", "documento", "mensagem", "chave", "referencia", "descricao", "copia_e_cola", "id"}


def test_no_field_with_people_or_keys_in_it_is_harmless():
    assert documents.HARMLESS & (SECRET | {"titular", "contraparte", "pagador", "token"}) == set()


@cases(
    ("decoder", "body"),
    [
        (documents.SALDO, b'{"saldo_centavos": "1", "bloqueado_centavos": 0}'),
        (documents.TRANSFERENCIA, b'{"id": 1}'),
        (documents.REFUSAL, b'{"error": "NOT_FOUND"}'),
        (documents.CHAVES, b'{"chaves": {"0": {}}}'),
        (documents.CHAVE, b'{"id": 1}'),
        (documents.TITULAR, b'{"chave": "a"}'),
        (documents.RECEBIMENTO, b"{}"),
        (documents.RECEBIMENTOS, b'{"recebimentos": {}, "proximo_cursor": null}'),
        (documents.DEVOLUCAO, b'{"valor_centavos": "1"}'),
        (documents.DEVOLUCOES, b'{"devolucoes": null}'),
    ],
)
def test_a_wrong_type_is_refused(decoder: msgspec.json.Decoder[object], body: bytes):
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(body)


def test_a_time_without_a_zone_is_refused():
    body = b'{"saldo_centavos":1,"bloqueado_centavos":0,"atualizado_em":"2026-11-20T13:40:11.123"}'

    with pytest.raises(msgspec.ValidationError):
        documents.SALDO.decode(body)


def test_nobody_s_bank_account_is_harmless():
    assert (
        documents.HARMLESS & {"agencia", "conta", "nome_banco", "titular", "recebimento"} == set()
    )
