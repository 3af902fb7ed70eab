"""
The bytes of a package of locked days: the files of each account, a manifest, and their digests.

The same days give the same bytes: nothing is compressed, no time is of the moment of writing, and
entries are in one order.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from gateway.closings.model import Closing
from gateway.core.account import Account, Environment
from gateway.core.money import Sum
from gateway.core.schemas import instant

FORMAT: Final = "pixgate closing package 1"
MANIFEST: Final = "manifest.json"
DIGESTS: Final = "SHA256SUMS"
READ_ME: Final = "LEIA-ME.txt"
_AT: Final = (1980, 1, 1, 0, 0, 0)
"""The first instant that an archive can hold."""
_READABLE: Final = 0o100644 << 16
_UNIX: Final = 3
_FIGURES: Final = ("opening", "credits", "debits", "fees", "returns", "closing")
_SUMMED: Final = ("credits", "debits", "fees", "returns")
_TEXT: Final = """\
Fechamento de contas Pix

Extratos dos dias fechados, em PDF, CSV e OFX, e o arquivo manifest.json com os valores de cada dia
e quem o assinou. Todos os dias foram comparados com o banco, assinados e fechados; depois disso,
nenhum valor muda.

Para conferir que nenhum arquivo foi alterado, na pasta em que o pacote foi aberto:

    sha256sum -c SHA256SUMS

No Windows (PowerShell): Get-FileHash ARQUIVO -Algorithm SHA256, e compare com SHA256SUMS.

Em cada dia: saldo inicial + entradas - saídas - tarifas + devoluções = saldo final
(opening + credits - debits - fees + returns = closing). Valores em reais; dias de Brasília.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedAccount:
    """
    An account in a package.

    Attributes:
        closings: Its locked days, oldest first, without a day missing between them.
        files: Their contents, by name.
    """

    account: Account
    closings: Sequence[Closing]
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """
    What a package holds.

    Attributes:
        open_days: Days that are not locked, of accounts that are therefore left out, by id.
    """

    environment: Environment
    first: date
    last: date
    accounts: Sequence[PackedAccount]
    open_days: Mapping[str, Sequence[date]]


def packed(contents: Contents) -> bytes:
    """Return the archive, in ZIP."""
    files: dict[str, bytes] = {}
    for each in contents.accounts:
        files |= each.files
    manifest = json.dumps(_manifest(contents), ensure_ascii=False, indent=1) + "\n"
    files |= {MANIFEST: manifest.encode(), READ_ME: _TEXT.encode()}
    digests = "".join(f"{_digest(files[name])}  {name}\n" for name in sorted(files))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as written:
        for name, content in [(DIGESTS, digests.encode()), *sorted(files.items())]:
            entry = zipfile.ZipInfo(name, _AT)
            entry.create_system, entry.external_attr = _UNIX, _READABLE
            written.writestr(entry, content)
    return archive.getvalue()


def _manifest(contents: Contents) -> Mapping[str, object]:
    return {
        "format": FORMAT,
        "environment": contents.environment.value,
        "first": contents.first.isoformat(),
        "last": contents.last.isoformat(),
        "zone": "America/Sao_Paulo",
        "accounts": [_account(each) for each in contents.accounts],
        "left_out": [
            {"account_id": account_id, "open_days": [day.isoformat() for day in days]}
            for account_id, days in sorted(contents.open_days.items())
        ],
    }


def _account(packed_account: PackedAccount) -> Mapping[str, object]:
    account, closings = packed_account.account, packed_account.closings
    at = account.coordinates
    sums = {name: sum(getattr(each, name) for each in closings) for name in _SUMMED}
    figures = {"opening": closings[0].opening, **sums, "closing": closings[-1].closing}
    return {
        "account_id": account.id,
        "holder": account.name,
        "bank": at.bank_number or at.ispb,
        "branch": at.branch,
        "account": at.account,
        **{name: str(Sum(value)) for name, value in figures.items()},
        "days": [_day(each) for each in closings],
        "files": [
            {"name": name, "sha256": _digest(content), "bytes": len(content)}
            for name, content in sorted(packed_account.files.items())
        ],
    }


def _day(closing: Closing) -> Mapping[str, object]:
    return {
        "day": closing.day.isoformat(),
        **{name: str(Sum(getattr(closing, name))) for name in _FIGURES},
        "differences": closing.differences,
        "digest": closing.digest,
        "signed_by": closing.signed_by,
        "signed_at": instant(closing.signed_at),
        "locked_by": closing.locked_by,
        "locked_at": instant(closing.locked_at),
    }


def last_lock(closings: Sequence[Closing]) -> datetime:
    """Return when the last of locked days was locked."""
    return max(each.locked_at for each in closings if each.locked_at is not None)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
