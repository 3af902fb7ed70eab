"""The bank's JSON documents; amounts are integer centavos, times have a zone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import msgspec

from provider_adapters.kit.answers import inside

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Error(msgspec.Struct, frozen=True):
    """The bank's error code."""

    code: str


class Refusal(msgspec.Struct, frozen=True):
    """The body of every answer outside 2xx."""

    error: Error


class Saldo(msgspec.Struct, frozen=True):
    """A balance; ``saldo_centavos`` includes blocked amounts."""

    saldo_centavos: int
    bloqueado_centavos: int
    atualizado_em: Instant | None


class Bloqueio(msgspec.Struct, frozen=True):
    """Blocked money."""

    tipo: str
    valor_centavos: int
    desde: Instant | None
    referencia: str | None


class Aviso(msgspec.Struct, frozen=True):
    """An address for callbacks."""

    id: str
    url: str


class EventoPerdido(msgspec.Struct, frozen=True):
    """A callback that could not be delivered; ``aviso`` is its body."""

    id: str
    aviso: msgspec.Raw


class Chave(msgspec.Struct, frozen=True):
    """A PIX key."""

    id: str
    chave: str
    tipo: str
    situacao: str
    criada_em: Instant | None


class Pessoa(msgspec.Struct, frozen=True, gc=False):
    """A payer or payee; holds texts only, so the garbage collector can skip it."""

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
    """A payment received for a charge."""

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
    """A movement; the amount has no sign, ``natureza`` is the direction: C or D."""

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


class Retorno(msgspec.Struct, frozen=True):
    """Money of a payout that came back."""

    id: str
    valor_centavos: int
    devolvida_em: Instant


class Transferencia(msgspec.Struct, frozen=True, kw_only=True):
    """A payout."""

    id: str
    chave_idempotencia: str | None
    situacao: str
    valor_centavos: int
    e2e: str | None
    liquidada_em: Instant | None
    falha: Error | None
    em_analise_ate: Instant | None = None
    devolucoes: tuple[Retorno, ...] = ()
    destino: dict[str, str] | None = None


class Titular(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a key; ``documento`` is masked for keys of other banks."""

    chave: str
    tipo: str
    titular: Pessoa
    banco: str | None
    nome_banco: str | None
    ispb: str
    agencia: str | None
    conta: str | None


class Recebimento(msgspec.Struct, frozen=True, kw_only=True):
    """A payment received, and how much of it was refunded."""

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
    """The payment that a refund returns."""

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


ANY: Final = msgspec.json.Decoder()
REFUSAL: Final = msgspec.json.Decoder(Refusal)
SALDO: Final = msgspec.json.Decoder(Saldo)
BLOQUEIOS: Final = inside("bloqueios", list[Bloqueio])
CHAVES: Final = inside("chaves", list[Chave])
AVISO: Final = msgspec.json.Decoder(Aviso)
AVISOS: Final = inside("avisos", list[Aviso])
EVENTOS_PERDIDOS: Final = inside("eventos", list[EventoPerdido])
LIDOS: Final = inside("lidos", int)
COBRANCA: Final = msgspec.json.Decoder(Cobranca)
COBRANCA_PAGA: Final = msgspec.json.Decoder(CobrancaPaga)
EXTRATO: Final = msgspec.json.Decoder(Extrato)
TRANSFERENCIA: Final = msgspec.json.Decoder(Transferencia)
CHAVE: Final = msgspec.json.Decoder(Chave)
TITULAR: Final = msgspec.json.Decoder(Titular)
RECEBIMENTO: Final = msgspec.json.Decoder(Recebimento)
RECEBIMENTOS: Final = msgspec.json.Decoder(Recebimentos)
DEVOLUCAO: Final = msgspec.json.Decoder(Devolucao)
DEVOLUCOES: Final = msgspec.json.Decoder(Devolucoes)

HARMLESS: Final = frozenset(
    {
        "atualizado_em",
        "bloqueado_centavos",
        "code",
        "criada_em",
        "criado_em",
        "desde",
        "devolvida_em",
        "devolvido_centavos",
        "disponivel_centavos",
        "e2e",
        "em_analise_ate",
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
"""The fields a transcript may show: no names, tax numbers, keys, references or free text."""
