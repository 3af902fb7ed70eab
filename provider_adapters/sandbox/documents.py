"""The bank's documents as it writes them; amounts are whole centavos, times carry their zone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import msgspec

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Error(msgspec.Struct, frozen=True):
    """Why the bank says no."""

    code: str


class Refusal(msgspec.Struct, frozen=True):
    """The body of every answer that is not 2xx."""

    error: Error


class Saldo(msgspec.Struct, frozen=True):
    """A balance; what is held is part of ``saldo_centavos``."""

    saldo_centavos: int
    bloqueado_centavos: int
    atualizado_em: Instant | None


class Chave(msgspec.Struct, frozen=True):
    """A PIX key."""

    id: str
    chave: str
    tipo: str
    situacao: str
    criada_em: Instant | None


class Chaves(msgspec.Struct, frozen=True):
    """All keys of an account."""

    chaves: list[Chave]


class Pessoa(msgspec.Struct, frozen=True, gc=False):
    """Somebody who pays or is paid; texts alone, of no interest to the garbage collector."""

    nome: str | None = None
    documento: str | None = None
    mensagem: str | None = None


class Cobranca(msgspec.Struct, frozen=True, kw_only=True):
    """A charge."""

    referencia: str
    tipo: str
    chave: str
    valor_centavos: int | None
    situacao: str
    reutilizavel: bool
    pagador: Pessoa | None
    recebedor: Pessoa
    cidade: str | None
    cep: str | None
    copia_e_cola: str
    criada_em: Instant | None
    expira_em: Instant | None


class Pagamento(msgspec.Struct, frozen=True, kw_only=True):
    """A payment that came in."""

    e2e: str | None
    valor_centavos: int
    pago_em: Instant
    pagador: Pessoa | None


class CobrancaPaga(msgspec.Struct, frozen=True, kw_only=True):
    """A charge with its latest payment."""

    referencia: str
    valor_centavos: int | None
    criada_em: Instant | None
    pagamento: Pagamento | None


class Lancamento(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A movement; the amount is positive, ``natureza`` tells the direction."""

    id: str
    tipo: str
    natureza: str
    valor_centavos: Unsigned
    e2e: str | None
    descricao: str | None
    contraparte: Pessoa | None
    criado_em: Instant
    chave_idempotencia: str | None = None


class Extrato(msgspec.Struct, frozen=True):
    """A page of the statement, newest first."""

    lancamentos: list[Lancamento]
    proximo_cursor: str | None


class Transferencia(msgspec.Struct, frozen=True, kw_only=True):
    """A payout."""

    id: str
    chave_idempotencia: str | None
    situacao: str
    valor_centavos: int
    e2e: str | None
    liquidada_em: Instant | None
    falha: Error | None


REFUSAL: Final = msgspec.json.Decoder(Refusal)
SALDO: Final = msgspec.json.Decoder(Saldo)
CHAVES: Final = msgspec.json.Decoder(Chaves)
COBRANCA: Final = msgspec.json.Decoder(Cobranca)
COBRANCA_PAGA: Final = msgspec.json.Decoder(CobrancaPaga)
EXTRATO: Final = msgspec.json.Decoder(Extrato)
TRANSFERENCIA: Final = msgspec.json.Decoder(Transferencia)

HARMLESS: Final = frozenset(
    {
        "atualizado_em",
        "bloqueado_centavos",
        "code",
        "criada_em",
        "criado_em",
        "devolvida_em",
        "devolvido_centavos",
        "disponivel_centavos",
        "e2e",
        "expira_em",
        "expira_em_s",
        "forma",
        "id_devolucao",
        "liquidada_em",
        "natureza",
        "pago_em",
        "reutilizavel",
        "saldo_centavos",
        "situacao",
        "tipo",
        "tipo_chave",
        "tipo_conta",
        "valor_centavos",
    }
)
"""The fields a transcript may show: no name, tax number, key, reference or text among them."""
