"""
The JSON documents of API Pix and of Efí; amounts are texts such as ``"10.50"``.

Only fields that are read are declared. A document may hold more: banks add their own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Generic, TypeVar

import msgspec

from provider_adapters.kit.answers import inside, try_body

Item = TypeVar("Item")

NOTHING: Final = msgspec.Raw(b"[]")
Instant = Annotated[datetime, msgspec.Meta(tz=True)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Recusa(msgspec.Struct, frozen=True):
    """A refusal in one of its three shapes: problem document, Efí's own, OAuth."""

    type: str = ""
    nome: str = ""
    error: str = ""


class Calendario(msgspec.Struct, frozen=True, rename="camel"):
    """
    Creation and expiry of a charge.

    Efí also writes seconds as text. A due date is a day, at some banks with a time behind it.
    """

    criacao: Instant | None = None
    expiracao: Count | str | None = None
    data_de_vencimento: str | None = None
    validade_apos_vencimento: Count | None = None


class Pessoa(msgspec.Struct, frozen=True):
    """A payer, a debtor or a receiver."""

    nome: str | None = None
    cpf: str | None = None
    cnpj: str | None = None
    cidade: str | None = None
    cep: str | None = None

    @property
    def tax_number(self) -> str:
        """Whichever of the two is there."""
        return self.cnpj or self.cpf or ""


class Retirado(msgspec.Struct, frozen=True, rename={"alteravel": "modalidadeAlteracao"}):
    """Cash that is handed out, whose amount the payer may change where ``alteravel`` is 1."""

    valor: str
    alteravel: int = 0


class Retirada(msgspec.Struct, frozen=True):
    """Pix Saque, or Pix Troco beside a purchase."""

    saque: Retirado | None = None
    troco: Retirado | None = None


class Valor(msgspec.Struct, frozen=True, rename={"alteravel": "modalidadeAlteracao"}):
    """The amount of a charge; cash handed out is paid beside ``original``."""

    original: str
    alteravel: int = 0
    retirada: Retirada | None = None


class Location(msgspec.Struct, frozen=True):
    """Where the payload of a charge is: ``location`` is an address without its scheme."""

    id: int | str | None = None
    location: str | None = None


class Horarios(msgspec.Struct, frozen=True):
    """When a payment out was ordered, and when it settled."""

    solicitacao: Instant | None = None
    liquidacao: Instant | None = None


class Devolucao(msgspec.Struct, frozen=True, kw_only=True, rename={"rtr_id": "rtrId"}):
    """A refund; without a time it still counts as given back."""

    id: str
    valor: str
    horario: Horarios = Horarios()
    status: str
    rtr_id: str | None = None
    descricao: str | None = None


class Extras(msgspec.Struct, frozen=True, rename={"id_envio": "idEnvio"}):
    """Efí's fields beyond the standard."""

    pagador: Pessoa | None = None
    id_envio: str | None = None


class Pix(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"e2e": "endToEndId", "info": "infoPagador", "extras": "gnExtras"},
):
    """A payment received."""

    e2e: str
    valor: str
    horario: Instant
    txid: str | None = None
    chave: str | None = None
    info: str | None = None
    pagador: Pessoa | None = None
    extras: Extras | None = None
    devolucoes: list[Devolucao] = []


class Cobranca(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"copia_e_cola": "pixCopiaECola", "texto": "textoImagemQRcode"},
):
    """
    A charge, due at once or on a day.

    Attributes:
        copia_e_cola: The payload, by the standard's name for it.
        brcode: The same at Sicoob.
        texto: The same at Banco do Brasil, in an older version of its API.
        loc: ``location`` with its id, not decoded: a charge with a payload needs neither.
        location: Where the payload's content is, from which a payload is made.
        pix: Payments, not decoded: an odd one does not spoil the charge.
    """

    txid: str
    status: str
    calendario: Calendario
    valor: Valor
    chave: str
    devedor: Pessoa | None = None
    recebedor: Pessoa | None = None
    loc: msgspec.Raw = msgspec.Raw(b"null")
    location: str | None = None
    pix: msgspec.Raw = msgspec.Raw(b"[]")
    copia_e_cola: str | None = None
    brcode: str | None = None
    texto: str | None = None

    @property
    def emv(self) -> str:
        """The payload, by whichever name it is there; empty where it is not."""
        payloads = (self.copia_e_cola, self.brcode, self.texto)
        return next((text.strip() for text in payloads if text and text.strip()), "")

    @property
    def place(self) -> Location:
        """Where the payload's content is; nowhere, if that cannot be read."""
        found = try_body(self.loc, LOCATION) or Location()
        return Location(id=found.id, location=self.location or found.location)


class Paginacao(msgspec.Struct, frozen=True, rename={"pages": "quantidadeDePaginas"}):
    """The number of pages."""

    pages: Count


class Parametros(msgspec.Struct, frozen=True):
    """Parameters of a list."""

    paginacao: Paginacao


class Pagina(msgspec.Struct, Generic[Item], frozen=True):
    """
    A page of payments, received or sent.

    Attributes:
        parametros: Some banks leave them out where one page holds everything.
        pix: Some banks leave the list out where it is empty.
    """

    parametros: Parametros | None = None
    pix: list[Item] | msgspec.UnsetType = msgspec.UNSET


class Devolvido(msgspec.Struct, frozen=True, rename={"rtr_id": "rtrId"}):
    """A refund as a callback names it; everything else is queried at the bank."""

    id: str = ""
    status: str = ""
    rtr_id: str | None = None


class Envio(msgspec.Struct, frozen=True, rename={"id": "idEnvio"}):
    """Fields of Efí's callback of a payout beyond the standard."""

    id: str | None = None


class Aviso(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"e2e": "endToEndId", "envio": "gnExtras"},
):
    """
    One thing that a callback says: a payment received, one refunded, or at Efí one sent.

    Nothing is required: one name is enough to know where to look.

    Attributes:
        devolucoes: Each is read by itself, so that an odd one does not hide the others.
    """

    e2e: str = ""
    txid: str | None = None
    chave: str | None = None
    tipo: str = ""
    status: str = ""
    envio: Envio | None = None
    devolucoes: msgspec.Raw = NOTHING


class Avisos(msgspec.Struct, frozen=True):
    """
    The body of a callback; a test at registration has no ``pix``.

    Attributes:
        pix: A list of parts, or one part without its list.
    """

    pix: msgspec.Raw = NOTHING


PARTES: Final = msgspec.json.Decoder(list[msgspec.Raw])
DEVOLVIDO: Final = msgspec.json.Decoder(Devolvido)
RECUSA: Final = msgspec.json.Decoder(Recusa)
COBRANCA: Final = msgspec.json.Decoder(Cobranca)
PIX: Final = msgspec.json.Decoder(Pix)
LOCATION: Final = msgspec.json.Decoder(Location)
PIXES: Final = msgspec.json.Decoder(list[msgspec.Raw])
RECEBIDOS: Final = msgspec.json.Decoder(Pagina[Pix])
DEVOLUCAO: Final = msgspec.json.Decoder(Devolucao)
WEBHOOK_URL: Final = inside("webhookUrl", str)
AVISO: Final = msgspec.json.Decoder(Aviso)
AVISOS: Final = msgspec.json.Decoder(Avisos)

HARMLESS: Final = frozenset(
    {
        "calendario",
        "criacao",
        "e2eId",
        "endToEndId",
        "error",
        "expiracao",
        "expires_in",
        "horario",
        "idEnvio",
        "liquidacao",
        "paginacao",
        "paginaAtual",
        "quantidadeDePaginas",
        "quantidadeTotalDeItens",
        "revisao",
        "rtrId",
        "saldo",
        "solicitacao",
        "status",
        "tipo",
        "token_type",
        "total",
        "type",
        "valor",
    }
)
"""The fields a transcript may show: no names, tax numbers, keys, references, tokens or free text.
``nome`` is a person's as well as an error's, so it stays hidden."""
