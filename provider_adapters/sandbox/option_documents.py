"""The bank's documents about what it offers beyond the nine calls, as it writes them."""

from __future__ import annotations

from typing import Final

import msgspec

from provider_adapters.sandbox.documents import Chave, Error, Instant, Pessoa


class Titular(msgspec.Struct, frozen=True, kw_only=True):
    """Who is behind a key; ``documento`` is hidden in part for keys of other banks."""

    chave: str
    tipo: str
    titular: Pessoa
    banco: str | None
    nome_banco: str | None
    ispb: str
    agencia: str | None
    conta: str | None


class Recebimento(msgspec.Struct, frozen=True, kw_only=True):
    """A payment that came in, and how much of it was given back."""

    id: str
    referencia: str | None
    e2e: str
    valor_centavos: int
    devolvido_centavos: int
    pago_em: Instant
    pagador: Pessoa | None


class Recebimentos(msgspec.Struct, frozen=True):
    """A page of payments, newest first."""

    recebimentos: list[Recebimento]
    proximo_cursor: str | None


class Origem(msgspec.Struct, frozen=True):
    """The payment that is given back."""

    e2e: str
    referencia: str | None


class Devolucao(msgspec.Struct, frozen=True, kw_only=True):
    """A refund."""

    id: str
    chave_idempotencia: str | None
    referencia: str | None
    situacao: str
    valor_centavos: int
    id_devolucao: str | None
    descricao: str | None
    recebimento: Origem
    criada_em: Instant
    liquidada_em: Instant | None
    falha: Error | None


class Devolucoes(msgspec.Struct, frozen=True):
    """A page of refunds, newest first."""

    devolucoes: list[Devolucao]
    proximo_cursor: str | None


CHAVE: Final = msgspec.json.Decoder(Chave)
TITULAR: Final = msgspec.json.Decoder(Titular)
RECEBIMENTO: Final = msgspec.json.Decoder(Recebimento)
RECEBIMENTOS: Final = msgspec.json.Decoder(Recebimentos)
DEVOLUCAO: Final = msgspec.json.Decoder(Devolucao)
DEVOLUCOES: Final = msgspec.json.Decoder(Devolucoes)
