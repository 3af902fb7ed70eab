"""Whole files of one record each, as the gateway writes them: examples of routes that answer so."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.core import errors
from gateway.core.fields import CLIENT_ID, E2E_ID, ID, TRACE_ID
from gateway.http.openapi.examples import CNPJ, COMPANY, DAY, INSTANT

_MOVEMENT: Final = "5000000000000007"
_BYTE_ORDER_MARK: Final = "\ufeff"
_REPORT_CSV: Final = (
    "created_at,operation,type,amount,description,counterparty_name,counterparty_tax_number,id,"
    "e2e_id\r\n"
    f"{INSTANT},Pix In,credit,10.50,Order 1042,Maria Silva,52998224725,{_MOVEMENT},{E2E_ID}\r\n"
)
_REPORT_OFX: Final = f"""\
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1>
<SONRS>
<STATUS>
<CODE>0</CODE>
<SEVERITY>INFO</SEVERITY>
</STATUS>
<DTSERVER>20261120104011[-3:BRT]</DTSERVER>
<LANGUAGE>POR</LANGUAGE>
<FI>
<ORG>pixgate sandbox</ORG>
<FID>341</FID>
</FI>
</SONRS>
</SIGNONMSGSRSV1>
<BANKMSGSRSV1>
<STMTTRNRS>
<TRNUID>0</TRNUID>
<STATUS>
<CODE>0</CODE>
<SEVERITY>INFO</SEVERITY>
</STATUS>
<STMTRS>
<CURDEF>BRL</CURDEF>
<BANKACCTFROM>
<BANKID>341</BANKID>
<BRANCHID>0001</BRANCHID>
<ACCTID>123456-7</ACCTID>
<ACCTTYPE>CHECKING</ACCTTYPE>
</BANKACCTFROM>
<BANKTRANLIST>
<DTSTART>20261119210000[-3:BRT]</DTSTART>
<DTEND>20261120104011[-3:BRT]</DTEND>
<STMTTRN>
<TRNTYPE>CREDIT</TRNTYPE>
<DTPOSTED>20261120104011[-3:BRT]</DTPOSTED>
<TRNAMT>10.50</TRNAMT>
<FITID>8716a966b9bba2f0ef65872472404e4f</FITID>
<REFNUM>{E2E_ID}</REFNUM>
<NAME>Maria Silva</NAME>
<MEMO>Pix recebido - Order 1042 - 529.982.247-25</MEMO>
</STMTTRN>
</BANKTRANLIST>
<LEDGERBAL>
<BALAMT>1010.50</BALAMT>
<DTASOF>20261120104011[-3:BRT]</DTASOF>
</LEDGERBAL>
</STMTRS>
</STMTTRNRS>
</BANKMSGSRSV1>
</OFX>
"""
_REPORT_JSON: Final[Mapping[str, Any]] = {
    "account": {
        "id": ID,
        "bank_number": "341",
        "ispb": "60701190",
        "branch": "0001",
        "account": "123456-7",
        "name": COMPANY,
        "tax_number": CNPJ,
    },
    "environment": "sandbox",
    "window": {"init": DAY, "ends": DAY},
    "generated_at": INSTANT,
    "balance": {
        "opening": 1000.0,
        "closing": 1010.5,
        "balance": 1010.5,
        "blocked": 0.0,
        "updated_at": INSTANT,
    },
    "totals": {"credits": 10.5, "debits": 0.0},
    "data": [
        {
            "id": _MOVEMENT,
            "e2e_id": E2E_ID,
            "kind": "pix",
            "operation": "Pix In",
            "type": "credit",
            "value": 10.5,
            "description": "Order 1042",
            "counterparty": {"name": "Maria Silva", "tax_number": "52998224725"},
            "created_at": INSTANT,
        }
    ],
    "meta": {"total": 1},
}
_REQUESTS: Final = (
    f"{_BYTE_ORDER_MARK}Data e hora (Brasília);Rastreio (trace ID);Interface;Rota;Método;Status;"
    "Código;Motivo;Credencial;Pessoa;Conta;Empresa;Duração (ms)\r\n"
    f"20/11/2026 10:40:11;{TRACE_ID};banking;banking.balance;GET;"
    f"{errors.SCOPE_DENIED.status};{errors.SCOPE_DENIED.code};scope;{CLIENT_ID};;"
    f"{ID};{ID};2,134\r\n"
)
_PAYOUTS: Final = (
    f"{_BYTE_ORDER_MARK}Criado em (Brasília);Conta;Identificador da conta;Referência;Forma;Valor;"
    "Favorecido;CPF/CNPJ;Situação;Em revisão;Falha;Banco;Solicitado por;ID da transação (E2E);"
    "Liquidado em (Brasília);Valor movimentado pelo banco;Diferença;Valor devolvido\r\n"
    f"20/11/2026 10:40:11;Matriz;{ID};order-1042;Chave Pix;10,50;Maria Silva;***.982.247-**;"
    f"liquidado;não;;sandbox;{CLIENT_ID};{E2E_ID};20/11/2026 10:40:11;10,50;0,00;"
    "0,00\r\n"
)
_ACTS: Final = (
    f'{{"number":1,"at":"{DAY}T13:40:11.771000+00:00","actor":"user:ana@example.com",'
    f'"action":"credential.issued","subject":"credential:{CLIENT_ID}","details":{{}},'
    f'"trace_id":"{TRACE_ID}","companies":["{ID}"],"hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}\n'
)
_FILES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "audit_export": {"application/x-ndjson": _ACTS},
        "closing_package": {"application/zip": "PK"},
        "payouts_export": {"text/csv": _PAYOUTS},
        "report": {
            "text/csv": _REPORT_CSV,
            "application/x-ofx": _REPORT_OFX,
            "application/json": _REPORT_JSON,
            "application/pdf": "%PDF-1.7",
        },
        "requests_export": {"text/csv": _REQUESTS},
    }
)


def file_example(route: str, media: str) -> Any:  # noqa: ANN401 - as free as JSON
    """Show a file as a route answers with it, PDF and ZIP by their beginning; empty for others."""
    return _FILES.get(route.rpartition(".")[2], {}).get(media, "")
