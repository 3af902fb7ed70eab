"""
Inter's own JSON documents, below ``/banking/v2``.

Source: the models of inter-co/pj-sdk-python 594744c and inter-co/pj-sdk-java 6575053, and types
that others generated from the bank's OpenAPI document. They call every field optional; those
without which an answer says nothing are required here.
"""

from __future__ import annotations

from typing import Final

import msgspec

from provider_adapters.kit.answers import inside
from provider_adapters.kit.money import ABSENT, JsonNumber


class Saldo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """
    A balance, in reais as JSON numbers.

    Attributes:
        disponivel: The balance without the blocked amounts ("Saldo líquido"). Of those, one
            that is absent blocks nothing.
        data_referencia: ``01/01/2024``; the day the balance is of, on a day without business.
    """

    disponivel: JsonNumber
    bloqueado_cheque: JsonNumber = ABSENT
    bloqueado_judicialmente: JsonNumber = ABSENT
    bloqueado_administrativo: JsonNumber = ABSENT
    data_referencia: str | None = None


class DetalhesPix(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Details of a Pix beyond its amount."""

    end_to_end_id: str | None = None
    nome_pagador: str | None = None
    cpf_cnpj_pagador: str | None = None
    nome_recebedor: str | None = None
    cpf_cnpj_recebedor: str | None = None


class Detalhes(DetalhesPix, frozen=True, kw_only=True, rename="camel", gc=False):
    """The same, or an object ``pix`` that holds it: published answers show both."""

    pix: DetalhesPix | None = None


class Transacao(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """
    A movement; the amount has no sign.

    Attributes:
        tipo_operacao: ``C`` or ``D``.
        data_transacao: A day, ``2026-11-22``.
    """

    id_transacao: str
    data_transacao: str
    tipo_transacao: str
    tipo_operacao: str
    valor: str
    descricao: str | None = None
    detalhes: Detalhes | None = None


class Extrato(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A page of movements."""

    total_paginas: int
    total_elementos: int
    transacoes: list[Transacao]


class Pedido(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to an order; it repeats neither amount nor recipient."""

    codigo_solicitacao: str
    tipo_retorno: str
    end_to_end_id: str | None = None


class TransacaoPix(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """
    A payout as it is looked up.

    Attributes:
        data_hora_movimento: When the money moved; names no zone.
    """

    codigo_solicitacao: str
    valor: JsonNumber
    status: str
    end_to_end: str | None = None
    data_hora_movimento: str | None = None


SALDO: Final = msgspec.json.Decoder(Saldo)
EXTRATO: Final = msgspec.json.Decoder(Extrato)
PEDIDO: Final = msgspec.json.Decoder(Pedido)
CONSULTA: Final = inside("transacaoPix", TransacaoPix)
