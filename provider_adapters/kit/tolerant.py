"""
Reading a bank's JSON tolerantly, after it could not be read strictly.

A bank's number may come as a text and its text as a number, null may stand for an empty list or
for a field that is absent, and one row of a list may be odd. Nothing is guessed: a value is
changed only into the same value in the form that the document's struct asks for. What decides
whether money moved is never read this way.

Damaged text is repaired after the document could not be decoded. Payers type texts and banks cut
them: half of a surrogate pair, a raw line break, bytes of Latin-1 or half of a UTF-8 character
then stand between two quotation marks. Each becomes U+FFFD, or the escape of the same control
character, so that a name and an amount never become another name or amount. Quotation marks,
brackets, commas and colons are left as they are: a document that is cut or has something behind
its end stays undecodable.

The decoder refuses a document that is nested deeper than Python's stack, some thousand levels.
What is nested deeper than any document of a bank is cut out then, so that one row or part does
not hide the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

from gateway.banks.client.messages import Kind, ProviderAnswer
from gateway.banks.port.capabilities import PortCall

REPLACEMENT: Final = "\ufffd"
"""In the place of what could not be read; no id, amount, date or word of a bank holds it."""

_NEITHER: Final = "[[]]"
"""Stands for a word that JSON lacks, such as ``NaN``. No field of ours has a list of lists, so
that a field that is read refuses it."""
# Possessive, and a string may lack its end: no text is gone through twice.
_STRING: Final = r'"(?:[^"\\]+|\\.|\\\Z)*+(?:"|\Z)'
_WORD: Final = r'[^ \t\n\r"{}\[\],:]+'
_TOKEN: Final = re.compile(f"{_STRING}|{_WORD}", re.DOTALL)
_PIECE: Final = re.compile(rf"{_STRING}|{_WORD}|[{{}}\[\],]", re.DOTALL)
_BRACKET: Final = re.compile(rf"{_STRING}|[{{}}\[\]]", re.DOTALL)
_DEEPEST: Final = 100
"""Levels; documents of banks have ten."""
_LITERAL: Final = re.compile(
    r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
)
_HIGH, _LOW, _FOUR = "[dD][89abAB]", "[dD][c-fC-F]", "[0-9a-fA-F]{2}"
_ESCAPE: Final = re.compile(
    rf"\\u{_HIGH}{_FOUR}\\u{_LOW}{_FOUR}"  # a whole pair
    rf"|(?P<half>\\u[dD][89a-fA-F]{_FOUR})"
    rf'|\\u{_FOUR}{_FOUR}|\\["\\/bfnrt]'
    r"|(?P<no_escape>\\)"
    r"|(?P<control>[\x00-\x1f])"
)
# Numbers with a fraction stay as they are written: a float would not.
EXACT: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    float_hook=lambda number: msgspec.Raw(number.encode())
)


def repaired(body: bytes) -> bytes:
    """
    Return an object or a list with its texts repaired; anything else as it is.

    The result may be no JSON either: only texts and words are repaired.
    """
    if body.lstrip(b" \t\n\r")[:1] not in {b"{", b"["}:
        return body
    return _TOKEN.sub(_token, body.decode(errors="replace")).encode()


def shallow(body: bytes) -> bytes:
    """
    Return a document with what is nested too deep replaced by a value that no field takes.

    Never for answers that decide whether money moved: what is cut out may be no JSON.
    """
    text, kept, depth, start = body.decode(errors="replace"), list[str](), 0, 0
    for found in _BRACKET.finditer(text):
        if found[0] in "{[":
            if depth == _DEEPEST:
                kept += text[start : found.start()], _NEITHER
            depth += 1
        elif found[0] in "}]":
            depth = max(0, depth - 1)
            if depth == _DEEPEST:
                start = found.end()
    rest = text[start:] if depth <= _DEEPEST else ""
    return "".join((*kept, rest)).encode() if kept else body


def decoded(body: bytes) -> object:
    """
    Decode a document of any form, its texts repaired; fractions stay as they are written.

    Raises:
        MsgspecError, ValueError, RecursionError: It is no JSON.
    """
    return EXACT.decode(shallow(repaired(body)))


def salvaged(body: bytes) -> object:
    """
    Return the readable part of a callback that is cut, or is otherwise invalid JSON.

    For callbacks alone: they only trigger a query. A name that comes twice keeps its first
    value; a text without an end is no value.
    """
    top: list[object] = []
    within: list[dict[str, object] | list[object]] = [top]
    name: str | None = None
    for piece in _PIECE.findall(shallow(body).decode(errors="replace")):
        holder = within[-1]
        if piece in "}]":
            del within[max(1, len(within) - 1) :]
            name = None
        elif piece == ",":
            name = None
        elif isinstance(holder, dict) and name is None and piece not in "{[":
            text = _value(piece)
            name = text if isinstance(text, str) else None
        else:
            value = {"{": dict, "[": list}.get(piece, partial(_value, piece))()
            if isinstance(holder, list):
                holder.append(value)
            elif name is not None:
                holder.setdefault(name, value)
            name = None
            if isinstance(value, dict | list):
                within.append(value)
    return top[0] if top else None


def _value(piece: str) -> object:
    """Decode a text or a literal; None for anything else."""
    try:
        value = EXACT.decode(_TOKEN.sub(_token, piece))
    except (msgspec.DecodeError, ValueError):
        return None
    return None if isinstance(value, list) else value


def _token(found: re.Match[str]) -> str:
    """Repair a text; a word that JSON lacks becomes a value that no field takes."""
    token = found[0]
    if token[0] == '"':
        return _ESCAPE.sub(_sound, token)
    return token if _LITERAL.fullmatch(token) else _NEITHER


def _sound(found: re.Match[str]) -> str:
    """Return an escape that decodes, or the escape of a raw control character."""
    match found.lastgroup:
        case "half" | "no_escape":
            return REPLACEMENT
        case "control":
            return f"\\u{ord(found[0]):04x}"
    return found[0]


Document = TypeVar("Document")
Value = TypeVar("Value")

UNREADABLE: Final = (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError)
"""What reading raises for a document or a row that makes no value."""

_DECIDING: Final = frozenset(
    {
        PortCall.CREATE_PAYOUT,
        PortCall.FIND_PAYOUT,
        PortCall.CREATE_REFUND,
        PortCall.FIND_REFUND,
    }
)
"""Calls whose answers decide whether money moved."""
_TOLERANT: Final = frozenset({"get_token", *(frozenset(PortCall) - _DECIDING)})
"""Operations by name; one that nobody knows is read strictly."""
_LISTS: Final = frozenset(
    {
        PortCall.GET_KEY,
        PortCall.LIST_BLOCKS,
        PortCall.LIST_CALLBACKS,
        PortCall.LIST_KEYS,
        PortCall.LIST_MISSED_EVENTS,
        PortCall.LIST_RECEIVED,
        PortCall.LIST_REFUNDS,
        PortCall.LIST_STATEMENT,
    }
)
"""Calls whose rows say something each by itself: one that is odd may be left out."""
_OF_ONE: Final = frozenset(
    {
        PortCall.CANCEL_CHARGE,
        PortCall.CANCEL_KEY,
        PortCall.CREATE_CHARGE,
        PortCall.FIND_RECEIVED,
        PortCall.GET_CHARGE,
        PortCall.GET_CHARGE_PAYMENT,
        PortCall.GET_KEY,
        PortCall.LIST_CALLBACKS,
        PortCall.LOOK_UP_KEY,
        PortCall.REGISTER_CALLBACK,
        PortCall.REMOVE_CALLBACK,
    }
)
"""Calls that name one thing, which may be absent; payouts and refunds are not among them."""
_NAMING: Final = frozenset({"DELETE", "GET", "PATCH"})
"""Methods by which something is named that must be there."""

_MOST_ODD: Final = 100
"""Rows; a page with more has another form, and looking for each would take long."""
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?", re.ASCII)
_WHOLE: Final = re.compile(r"(-?(?:0|[1-9][0-9]{0,17}))(?:\.0{1,20})?", re.ASCII)
_DROPPED: Final = object()
_NULLABLE: Final = (inspect.NoneType, inspect.AnyType, inspect.RawType)


def may_be_tolerant(answer: ProviderAnswer) -> bool:
    """Return whether an answer may be read tolerantly, by the operation of its request."""
    request = answer.request
    return request is not None and request.operation in _TOLERANT and request.kind is Kind.READ


def _decoded(body: bytes) -> object:
    """Decode a document of any form; texts that are damaged beside its form are repaired."""
    try:
        return EXACT.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return decoded(body)


def says_absent(answer: ProviderAnswer) -> bool:
    """
    Return whether a 404 means that the requested item does not exist.

    The bank's own 404 has a JSON object of any form; an HTML page or an empty body may come from a
    proxy.
    """
    request = answer.request
    if request is None or request.operation not in _OF_ONE or request.method not in _NAMING:
        return False
    if not request.template.endswith("}"):
        return False
    try:
        return isinstance(decoded(answer.body), dict)
    except UNREADABLE:
        return False


def read(
    answer: ProviderAnswer,
    body: bytes,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    *,
    whole: bool,
) -> Value:
    """
    Make a value of a document that could not be read strictly.

    Rows of a list that make no value are left out and counted in ``answer.rows_unreadable``. A
    list of which no row can be read is no list: the bank's form has changed. ``whole`` leaves
    out none.

    Raises:
        MsgspecError, ValueError, ArithmeticError, RecursionError: It makes no value.
    """
    kind = _kind_of(decoder)
    document = _fitted(_decoded(body), kind)

    def made() -> Value:
        return shape(decoder.decode(msgspec.json.encode(document)))

    try:
        return made()
    except UNREADABLE:
        operation = "" if answer.request is None else answer.request.operation
        lists = _rows(document, kind) if operation in _LISTS and not whole else []
        found = [list(rows) for rows in lists]
        odd: list[object] = []
        for rows in lists:
            rows.clear()
        for rows, all_of_them in zip(lists, found, strict=True):
            rows[:] = _readable(rows, all_of_them, made, odd)
        if not any(lists):
            raise
    value = made()
    answer.rows_unreadable += len(odd)
    return value


def fitted(document: object, decoder: msgspec.json.Decoder[Document]) -> Document:
    """
    Make a document of decoded JSON that is in another form; no row of it is left out.

    Raises:
        MsgspecError, ValueError, RecursionError: It has not the form in any way.
    """
    return decoder.decode(msgspec.json.encode(_fitted(document, _kind_of(decoder))))


def _readable(
    place: list[object], rows: list[object], made: Callable[[], object], odd: list[object]
) -> list[object]:
    """Return the rows that can be read, by halves, and add the others to ``odd``."""
    place[:] = rows
    try:
        made()
    except UNREADABLE:
        if len(rows) <= 1:
            odd += rows
            if len(odd) > _MOST_ODD:
                raise
            return []
        half = len(rows) // 2
        halves = rows[:half], rows[half:]
        return [row for each in halves for row in _readable(place, each, made, odd)]
    return rows


@lru_cache(maxsize=256)
def _kind_of(decoder: msgspec.json.Decoder[Document]) -> inspect.Type:
    return inspect.type_info(decoder.type)


def _rows(document: object, kind: inspect.Type) -> list[list[object]]:
    """Return the outermost lists; a list within a row is part of that row."""
    kind = _bare(kind)
    if isinstance(document, list):
        return [document]
    if not isinstance(document, dict) or not isinstance(kind, inspect.StructType):
        return []
    inside = ((document.get(each.encode_name), each.type) for each in kind.fields)
    return [rows for value, of in inside for rows in _rows(value, of)]


def _bare(kind: inspect.Type) -> inspect.Type:
    """Return the one type of a union with None; any other type as it is."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    types = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
    return types[0] if len(types) == 1 else kind


def _takes_none(kind: inspect.Type) -> bool:
    types = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return any(isinstance(each, _NULLABLE) for each in types)


def _fitted(value: object, kind: inspect.Type) -> object:
    kind, fitted = _bare(kind), value
    match kind:
        case inspect.StructType(array_like=False) if isinstance(value, dict):
            fitted = _object(value, kind)
        case inspect.ListType() if isinstance(value, list):
            fitted = [_fitted(each, kind.item_type) for each in value]
        case inspect.StrType():
            fitted = _text(value)
        case inspect.IntType() if isinstance(value, str | msgspec.Raw):
            whole = _WHOLE.fullmatch(str(_text(value)))
            fitted = value if whole is None else int(whole[1])
        case inspect.FloatType() | inspect.RawType() if isinstance(value, str):
            fitted = msgspec.Raw(value.encode()) if _NUMBER.fullmatch(value) else value
        case inspect.UnionType() if isinstance(value, msgspec.Raw):
            forms = (_fitted(value, each) for each in kind.types)
            fitted = next((form for form in forms if form is not value), value)
    return fitted


def _text(value: object) -> object:
    """Return a number as the text that it is written by; anything else unchanged."""
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _object(value: dict[str, object], kind: inspect.StructType) -> dict[str, object]:
    """Convert the fields of an object; unread ones are dropped."""
    found: dict[str, object] = {}
    if kind.tag_field is not None and kind.tag_field in value:
        found[kind.tag_field] = value[kind.tag_field]
    for each in kind.fields:
        if each.encode_name in value:
            fitted = _field(value[each.encode_name], each)
            if fitted is not _DROPPED:
                found[each.encode_name] = fitted
    return found


def _field(value: object, field: inspect.Field) -> object:
    """
    Fit one field.

    Null stands for an empty list, and for a field that may be absent. A text, or an object of
    texts, that may be absent and is something else altogether is left out: a name. An amount, a
    time or a list is not: without it the rest could say something else.
    """
    kind = _bare(field.type)
    if value is None:
        if _takes_none(field.type):
            return None
        if isinstance(kind, inspect.ListType):
            return []
        return None if field.required else _DROPPED
    fitted = _fitted(value, kind)
    if field.required:
        return fitted
    is_odd = (isinstance(kind, inspect.StrType) and not isinstance(fitted, str)) or (
        _is_of_texts(kind) and not isinstance(fitted, dict)
    )
    return _DROPPED if is_odd else fitted


def _is_of_texts(kind: inspect.Type) -> bool:
    """Return whether a type is an object of optional texts, or of such objects."""
    return isinstance(kind, inspect.StructType) and all(
        not each.required
        and (isinstance(_bare(each.type), inspect.StrType) or _is_of_texts(_bare(each.type)))
        for each in kind.fields
    )
