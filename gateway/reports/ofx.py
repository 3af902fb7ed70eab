"""
A report as an OFX 2.2 bank statement (XML), which bookkeeping programs import.

Source: Open Financial Exchange 2.2, part 2 (headers), 3.2.8 (times), 11.3.1
(accounts), 11.4 (statements). Elements stand in the order given there; each
has its own line, since some importers read lines and not XML, and texts lose their
accents, as in the files of Brazilian banks, since some read ASCII and not UTF-8.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.account import Environment
from gateway.core.windows import local_time, written
from gateway.reports import texts
from gateway.reports.document import Document, change
from gateway.reports.texts import ascii_line

_HEAD = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    b'<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'
)


_END_OF_LIST = b"</BANKTRANLIST>"


_UNASKED = "0"
"""The transaction id of an answer that no OFX request asked for."""


_LONGEST_BANK, _LONGEST_BRANCH, _LONGEST_ACCOUNT = 9, 22, 22


_LONGEST_NAME, _LONGEST_REFERENCE, _LONGEST_MEMO = 32, 32, 255


def pieces(document: Document, groups: Iterable[Sequence[Entry]]) -> Iterator[bytes]:
    """
    Write the statement piece by piece: the head, each group of movements, the end.

    Amounts are in reais, debits negative, times of Brasilia. ``FITID`` is the same for the same
    movement in every report, so that an importer recognizes repeated movements. ``LEDGERBAL`` is
    the balance when the report was made, not at the window's end, and says so by its date.
    """
    head, end, rest = _frame(document).partition(_END_OF_LIST)
    yield head
    ids = StableIds(document.account_id)
    for group in groups:
        yield b"".join(_movement(entry, ids.of(entry)) for entry in group)
    yield end + rest


def _frame(document: Document) -> bytes:
    """Write a statement without its movements."""
    ofx = ET.Element("OFX")
    _sign_on(ET.SubElement(ofx, "SIGNONMSGSRSV1"), document)
    answer = ET.SubElement(ET.SubElement(ofx, "BANKMSGSRSV1"), "STMTTRNRS")
    _fill(answer, [("TRNUID", _UNASKED)])
    _status(answer)
    _statement(ET.SubElement(answer, "STMTRS"), document)
    ET.indent(ofx, space="")
    body: bytes = ET.tostring(ofx, encoding="us-ascii", short_empty_elements=False)
    return _HEAD + body + b"\n"


def _sign_on(parent: ET.Element, document: Document) -> None:
    """Write the file's origin, and that sandbox data is no money."""
    sign_on = ET.SubElement(parent, "SONRS")
    _status(sign_on)
    _fill(sign_on, [("DTSERVER", _time(document.generated_at)), ("LANGUAGE", "POR")])
    is_sandbox = document.environment is Environment.SANDBOX
    institution = ET.SubElement(sign_on, "FI")
    _fill(institution, [("ORG", "pixgate sandbox" if is_sandbox else "pixgate")])
    _fill(institution, [("FID", _bank(document))])


def _status(parent: ET.Element) -> None:
    _fill(ET.SubElement(parent, "STATUS"), [("CODE", "0"), ("SEVERITY", "INFO")])


def _statement(parent: ET.Element, document: Document) -> None:
    _fill(parent, [("CURDEF", "BRL")])
    _account(ET.SubElement(parent, "BANKACCTFROM"), document)
    movements = ET.SubElement(parent, "BANKTRANLIST")
    window, made_at = document.window, document.generated_at
    _fill(movements, [("DTSTART", _time(window.start)), ("DTEND", _time(min(window.end, made_at)))])
    balance = [("BALAMT", str(document.balance.balance)), ("DTASOF", _time(made_at))]
    _fill(ET.SubElement(parent, "LEDGERBAL"), balance)


def _movement(entry: Entry, fit_id: str) -> bytes:
    """Write one movement, each element in a line; text costs a tenth of a tree."""
    lines = "".join(f"<{tag}>{escape(text)}</{tag}>\n" for tag, text in _elements(entry, fit_id))
    return f"<STMTTRN>\n{lines}</STMTTRN>\n".encode("ascii")


def _account(parent: ET.Element, document: Document) -> None:
    """Name the account; one without a number goes by its id, cut to what fits."""
    at = document.coordinates
    _fill(parent, [("BANKID", _bank(document))])
    if at.branch:
        _fill(parent, [("BRANCHID", ascii_line(at.branch)[:_LONGEST_BRANCH])])
    number = ascii_line(at.account) or document.account_id.replace("-", "")
    _fill(parent, [("ACCTID", number[:_LONGEST_ACCOUNT]), ("ACCTTYPE", "CHECKING")])


def _bank(document: Document) -> str:
    """Name the bank by its COMPE number, else by its ISPB."""
    at = document.coordinates
    return ascii_line(at.bank_number or at.ispb or "000")[:_LONGEST_BANK]


def _elements(entry: Entry, fit_id: str) -> Sequence[tuple[str, str]]:
    """Return the elements of a movement and their texts, which are ASCII."""
    name = ascii_line(entry.counterparty.name or texts.operation(entry))
    reference = ascii_line(entry.e2e_id or entry.provider_id)[:_LONGEST_REFERENCE]
    return (
        ("TRNTYPE", _type(entry)),
        ("DTPOSTED", _time(entry.created_at)),
        ("TRNAMT", str(change(entry))),
        ("FITID", fit_id),
        *([("REFNUM", reference)] if reference else []),
        ("NAME", name[:_LONGEST_NAME].rstrip()),
        ("MEMO", _memo(entry)),
    )


def _type(entry: Entry) -> str:
    """Choose the word of OFX, supported by every importer."""
    if entry.direction is Direction.CREDIT:
        return "CREDIT"
    return "FEE" if entry.kind is MovementKind.FEE else "DEBIT"


def _memo(entry: Entry) -> str:
    """Return texts without an element of their own, and the full name where it was cut."""
    name = entry.counterparty.name if len(entry.counterparty.name) > _LONGEST_NAME else ""
    number = texts.tax_number(entry.counterparty.tax_number)
    parts = (texts.operation(entry), entry.description, number, name)
    return " - ".join(filter(None, map(ascii_line, parts)))[:_LONGEST_MEMO].rstrip(" -")


def _time(at: datetime) -> str:
    """Write an instant with its offset; importers that ignore it get the day people mean."""
    local = local_time(at)
    hours = (local.utcoffset() or timedelta()) // timedelta(hours=1)
    return f"{written(local, '%Y%m%d%H%M%S')}[{hours}:BRT]"


def _fill(parent: ET.Element, texts: Iterable[tuple[str, str]]) -> None:
    """Add elements of text, in this order."""
    for tag, text in texts:
        ET.SubElement(parent, tag).text = text


_LENGTH = 32


class StableIds:
    """
    Names each movement by its unchanging fields, uniquely.

    Banks repeat ids (a fee under the payment's, a return under the payout's), so an id counts
    together with instant, direction and value. Movements equal in all of these are numbered; having
    one instant, they are always in the same window. Movements come in their order: only those of
    one instant are remembered.
    """

    def __init__(self, account_id: str) -> None:
        self._account_id = account_id
        self._at: datetime | None = None
        self._seen: Counter[str] = Counter()

    def of(self, entry: Entry) -> str:
        """Name the next movement."""
        if entry.created_at != self._at:
            self._at = entry.created_at
            self._seen.clear()
        digest = _digest(self._account_id, entry)
        self._seen[digest] += 1
        return digest if self._seen[digest] == 1 else f"{digest}-{self._seen[digest]}"


def _digest(account_id: str, entry: Entry) -> str:
    """Digest the constant fields; names and descriptions only where the bank gives no id."""
    known = entry.provider_id or entry.e2e_id
    words = "" if known else f"{entry.description}\0{entry.counterparty.name}"
    parts = (
        account_id,
        known,
        words,
        entry.direction.value,
        str(entry.value.centavos),
        entry.created_at.astimezone(UTC).isoformat(),
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:_LENGTH]
