"""Movements of a statement, as the bank writes them and as the gateway must: both by hand."""

from __future__ import annotations

from datetime import date, timedelta

_FIRST_DAY = date(2026, 1, 1)
_TIME = "2026-01-20T12:{minute:02}:{second:02}"
MOST = 100
"""Movements of a day; a page has no more."""


def day_of(movements: int) -> str:
    """Name the day on which there were so many movements: the n-th of the year, from zero."""
    return (_FIRST_DAY + timedelta(days=movements)).isoformat()


def as_bank(movements: int) -> bytes:
    """Write a page of the bank, newest first."""
    rows = ",".join(_bank_row(each) for each in range(movements))
    return f'{{"lancamentos":[{rows}],"proximo_cursor":null}}'.encode()


def as_gateway(movements: int, balance: bytes, limit: int = MOST) -> bytes:
    """Write what a partner must read of it (contract 2.7)."""
    rows = ",".join(_row(each) for each in range(min(movements, limit)))
    meta = f'{{"page":1,"limit":{limit},"total":{movements}}}'
    account = (
        '{"bank_number":"","ispb":"","branch":"","account":"",'
        '"name":"Bench","tax_number":"11222333000181"}'
    )
    return (
        f'{{"data":[{rows}],"meta":{meta},"balance":{balance.decode()},"account":{account}}}'
    ).encode()


def _bank_row(place: int) -> str:
    return (
        f'{{"id":"{_number(place)}","tipo":"PIX_RECEBIDO","natureza":"C",'
        f'"valor_centavos":{_centavos(place)},"e2e":"{_e2e(place)}","chave_idempotencia":null,'
        f'"descricao":"pedido {place}",'
        '"contraparte":{"nome":"Maria Silva","documento":"52998224725"},'
        f'"criado_em":"{_at(place)}.000Z"}}'
    )


def _row(place: int) -> str:
    reais, centavos = divmod(_centavos(place), 100)
    number, e2e = _number(place), _e2e(place)
    return (
        f'{{"id":"{number}","operation":"Pix In","type":"credit",'
        f'"value":{reais}.{centavos:02},"description":"pedido {place}",'
        f'"tags":["{number}","{e2e}"],"document_number":{number},'
        '"counterparty":{"name":"Maria Silva","tax_number":"52998224725"},'
        f'"created_at":"{_at(place)}Z"}}'
    )


def _number(place: int) -> int:
    return 1_000_000_999 - place


def _centavos(place: int) -> int:
    return 1050 + place * 7


def _e2e(place: int) -> str:
    return f"E99999999202601201200{_number(place):011}"  # 32 characters, as the central bank says


def _at(place: int) -> str:
    """Count back from the end of the hour, so that the newest comes first."""
    minute, second = divmod(3599 - place * 7, 60)
    return _TIME.format(minute=minute, second=second)
