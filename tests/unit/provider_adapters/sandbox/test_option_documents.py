"""The bank's documents about what it offers beyond the nine calls."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters.sandbox import option_documents
from provider_adapters.sandbox.documents import HARMLESS


@pytest.mark.parametrize(
    ("decoder", "body"),
    [
        (option_documents.CHAVE, b'{"id": 1}'),
        (option_documents.TITULAR, b'{"chave": "a"}'),
        (option_documents.RECEBIMENTO, b"{}"),
        (option_documents.RECEBIMENTOS, b'{"recebimentos": {}, "proximo_cursor": null}'),
        (option_documents.DEVOLUCAO, b'{"valor_centavos": "1"}'),
        (option_documents.DEVOLUCOES, b'{"devolucoes": null}'),
    ],
)
def test_a_wrong_type_is_refused(decoder: msgspec.json.Decoder[object], body: bytes):
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(body)


def test_nobody_s_bank_account_is_harmless():
    assert HARMLESS & {"agencia", "conta", "nome_banco", "titular", "recebimento"} == set()
