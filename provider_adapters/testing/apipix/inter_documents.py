"""Inter's own documents, with the field names of its SDKs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from provider_adapters.apipix.inter.words import ZONE
from provider_adapters.testing.apipix import documents
from provider_adapters.testing.bank.kernel import clock
from provider_adapters.testing.bank.kernel.statement import Entry, number
from provider_adapters.testing.bank.messages import Document
from provider_adapters.testing.bank.pix.payouts import Payout

SOMEBODY: Final = "Cliente de Outro Banco"
"""Who owns a key of another bank."""
_KINDS: Final = {
    "fee": "TARIFA",
    "ted_in": "TRANSFERENCIA",
    "ted_out": "TRANSFERENCIA",
    "boleto_in": "BOLETO_COBRANCA",
    "boleto_out": "PAGAMENTO",
}
_STATES: Final = {
    "processing": "ENVIADO",
    "settled": "PAGO",
    "returned": "PAGO",
    "failed": "FALHA",
}


def balance(available: int, court: int, others: int) -> Document:
    """Show a balance; amounts are JSON numbers in reais."""
    return {
        "disponivel": _reais(available),
        "bloqueadoCheque": 0,
        "bloqueadoJudicialmente": _reais(court),
        "bloqueadoAdministrativo": _reais(others),
        "limite": 0,
    }


def page(found: Sequence[Entry], place: int, size: int, total: int) -> Document:
    """Show a page of movements."""
    pages = max(1, -(-total // size))
    return {
        "totalPaginas": pages,
        "totalElementos": total,
        "primeiraPagina": place == 0,
        "ultimaPagina": place + 1 >= pages,
        "tamanhoPagina": size,
        "numeroDeElementos": len(found),
        "transacoes": [_entry(each) for each in found],
    }


def ordered(record: Payout) -> Document:
    """Show a payout as the answer to its order, which names no amount."""
    day = _day(record.created_at)
    return {
        "tipoRetorno": "PROCESSADO",
        "codigoSolicitacao": record.id,
        "dataPagamento": day,
        "dataOperacao": day,
    }


def payout(record: Payout) -> Document:
    """Show a payout when it is looked up; our key is not told."""
    to = json.loads(record.to.sent)
    status = _STATES[record.state]
    shown: dict[str, object] = {
        "codigoSolicitacao": record.id,
        "valor": _reais(record.settled_centavos or record.centavos),
        "status": status,
        "endToEnd": record.e2e_id,
        "dataHoraSolicitacao": _moment(record.created_at),
        "recebedor": {"nome": record.to.name or SOMEBODY, **to},
        "erros": [{"codigoErro": "FALHA"}] if record.failure else [],
    }
    if record.settled_at is not None:
        shown["dataHoraMovimento"] = _moment(record.settled_at)
    if record.to.key is not None:
        shown["chave"] = record.to.key
    told = [{"status": status, "dataHoraEvento": _moment(record.created_at)}]
    return {"transacaoPix": shown, "historico": told}


def _entry(line: Entry) -> Document:
    shown: dict[str, object] = {
        "idTransacao": number(line.seq),
        "dataInclusao": _day(line.at),
        "dataTransacao": _day(line.at),
        "tipoTransacao": _KINDS.get(line.kind, "PIX"),
        "tipoOperacao": "D" if line.centavos < 0 else "C",
        "valor": documents.reais(abs(line.centavos)),
        "titulo": "",
        "descricao": line.description,
    }
    return shown if line.kind in _KINDS else {**shown, "detalhes": _details(line)}


def _details(line: Entry) -> Document:
    side = "Recebedor" if line.centavos < 0 else "Pagador"
    shown = {
        "tipoDetalhe": "COMPLETE",
        "endToEndId": line.e2e_id,
        f"nome{side}": line.name or SOMEBODY,
        f"cpfCnpj{side}": line.tax_number,
    }
    return {**shown, "codigoSolicitacao": line.payout_id} if line.kind == "pix_out" else shown


def _reais(centavos: int) -> float:
    """Write an amount; two decimals of at most 15 digits are exact in JSON."""
    return centavos / 100


def _day(micros: int) -> str:
    return f"{clock.from_micros(micros).astimezone(ZONE):%Y-%m-%d}"


def _moment(micros: int) -> str:
    """Write an instant to the second, in the bank's zone and without saying so."""
    return f"{clock.from_micros(micros).astimezone(ZONE):%Y-%m-%dT%H:%M:%S}"
