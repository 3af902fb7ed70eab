"""Efí's own JSON documents, beside the standard's."""

from __future__ import annotations

from typing import Final

import msgspec

from provider_adapters.apipix.documents import Horarios, Pagina, Pessoa
from provider_adapters.kit.answers import inside


class Bloqueios(msgspec.Struct, frozen=True):
    """Blocked amounts at Efí."""

    total: str


class Saldo(msgspec.Struct, frozen=True):
    """A balance at Efí."""

    saldo: str
    bloqueios: Bloqueios


class Ordenado(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to an order of a payout at Efí."""

    id_envio: str
    valor: str
    status: str
    e2e_id: str | None = None


class ContaBanco(Pessoa, frozen=True):
    """A recipient's account as Efí shows it: without its bank, the tax number masked."""

    agencia: str = ""
    conta: str = ""


class Favorecido(msgspec.Struct, frozen=True, rename={"conta_banco": "contaBanco"}):
    """A recipient."""

    chave: str | None = None
    identificacao: Pessoa | None = None
    conta_banco: ContaBanco | None = None


class Enviado(
    msgspec.Struct, frozen=True, kw_only=True, rename={"e2e": "endToEndId", "key": "idEnvio"}
):
    """A payment sent; one that was not ordered through the interface has no key of ours."""

    valor: str
    status: str
    horario: Horarios
    e2e: str | None = None
    key: str | None = None
    favorecido: Favorecido | None = None


SALDO: Final = msgspec.json.Decoder(Saldo)
CHAVE: Final = inside("chave", str)
CHAVES: Final = inside("chaves", list[str])
QRCODE: Final = inside("qrcode", str)
ORDENADO: Final = msgspec.json.Decoder(Ordenado)
ENVIADO: Final = msgspec.json.Decoder(Enviado)
ENVIADOS: Final = msgspec.json.Decoder(Pagina[Enviado])
