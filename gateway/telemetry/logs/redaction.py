"""
Redaction of log lines: fields by allow-list, texts and exceptions masked.

Masking is the second net. The first is not to log bodies, headers and banks'
words at all. A partner's own trace id is shown as it stands: it is echoed too.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from traceback import walk_tb
from types import TracebackType
from typing import Final
from uuid import UUID

from gateway.core import strict

MASK: Final = "***"
ALLOWED: Final = frozenset(
    (
        *(
            "ts",
            "level",
            "event",
            "logger",
            "trace_id",
            "traceparent",
            "surface",
            "route",
            "method",
            "path_template",
            "status",
            "code",
        ),
        *("reason", "reason_id", "security_event", "duration_ms", "seconds", "provider"),
        *("provider_ms", "provider_outcome", "breaker_state", "client_id", "user_id"),
        *("company_id", "account_id", "account_id_hash", "session_hash", "ip", "bytes_in"),
        *("bytes_out", "retry", "idempotency", "payout", "worker", "workers", "config_digest"),
        *("version", "environment", "operation", "operation_class", "outcome", "http_status"),
        *("bytes_left", "adapter", "attempt", "state", "old_state", "new_state", "checks"),
        *(
            "store",
            "migrations",
            "draining",
            "revision",
            "schema",
            "host",
            "port",
            "signal",
            "count",
        ),
        *(
            "suppressed",
            "in_flight",
            "policy",
            "action",
            "e2e_id",
            "command",
        ),
        *("audit_number", "audit_hash"),
    )
)
"""Fields whose value is shown, masked as text; every other value is ``***``."""
_LONGEST: Final = 8192
_DEEPEST: Final = 6
_LONG_NUMBER: Final = 10**9
_EMAIL_SHOWN_FROM: Final = 4
_SHORTEST_BASE64: Final = 12
_NUMBER_KEPT: Final = slice(3, 9)
Replace = str | Callable[[re.Match[str]], str]


def mask_text(text: str) -> str:
    """
    Hide texts like a secret, a tax number, a PIX key or a card of credentials.

    UUIDs, end-to-end ids and hexadecimal digests stay; control characters that
    JSON lets through are written out. A text over 8192 characters is cut.
    """
    masked = _cut(text).encode("utf-8", "backslashreplace").decode().translate(_CONTROLS)
    for pattern, replace in _PATTERNS:
        masked = pattern.sub(replace, masked)
    return masked


def mask_quoted(text: str) -> str:
    """Mask quoted text, which holds values in messages of others."""
    return mask_text(_QUOTED.sub(f"'{MASK}'", _cut(text)))


def redact(fields: Mapping[str, object], depth: int = 0) -> dict[str, object]:
    """Return the fields with every value shown, masked or hidden; the input stays as it is."""
    return {
        mask_text(str(name)): _clean(value, depth) if name in ALLOWED else MASK
        for name, value in fields.items()
    }


def _cut(text: str) -> str:
    """Cut a text that is too long between two words, so that no half of a secret is left."""
    if len(text) <= _LONGEST:
        return text
    kept, _, _ = text[: _LONGEST - len(MASK)].rpartition(" ")
    return kept + MASK


def _clean(value: object, depth: int) -> object:
    """Return a readable value; an object of unknown content is named by its type."""
    if value is None or isinstance(value, bool | float | datetime | date):
        return value
    if isinstance(value, int) and not isinstance(value, Enum):
        return value if abs(value) < _LONG_NUMBER else mask_text(str(value))
    if isinstance(value, Enum):
        return _clean(value.value, depth)
    if isinstance(value, str | UUID | Decimal | PurePath):
        return mask_text(str(value))
    if isinstance(value, Mapping | Sequence | AbstractSet) and not isinstance(
        value, bytes | bytearray
    ):
        return _clean_many(value, depth + 1)
    return f"<{type(value).__name__}>"


def _clean_many(
    values: Mapping[str, object] | Sequence[object] | AbstractSet[object], depth: int
) -> object:
    if depth > _DEEPEST:
        return MASK
    if isinstance(values, Mapping):
        return redact(values, depth)
    return [_clean(each, depth) for each in values]


def _keep_or_mask_digits(found: re.Match[str]) -> str:
    """Keep an id; show the middle of a tax number; mask any other personal number."""
    if found["id"]:
        return found["id"]
    if found["cnpj"]:
        bare = re.sub(r"%2F|\D", "", found["cnpj"], flags=re.IGNORECASE)
        return f"**.{bare[2:5]}.{bare[5:8]}/****-**"
    if found["cpf"]:
        middle = re.sub(r"\D", "", found["cpf"])[_NUMBER_KEPT]
        return f"***.{middle[:3]}.{middle[3:]}-**"
    return f"+{MASK}"


def _mask_email(found: re.Match[str]) -> str:
    """Show two letters of an address, and none of a short one."""
    name = found[1]
    return name[:2] + MASK if len(name) >= _EMAIL_SHOWN_FROM else MASK


def _mask_new_cnpj(found: re.Match[str]) -> str:
    """Hide fourteen letters and digits if their check digits make them a tax number."""
    bare = found[0].upper().replace("%2F", "")
    try:
        strict.tax_number(bare)
    except ValueError:
        return found[0]
    return "**.***.***/****-**"


def _mask_base64(found: re.Match[str]) -> str:
    """Hide base64 of a pair, or of anything that would be masked as text."""
    without_ids = _IDS.sub("/", found[0])
    for piece in (without_ids, *re.split("[/_-]", without_ids)):
        decoded = _decoded(piece) if len(piece) >= _SHORTEST_BASE64 else ""
        if decoded and (":" in decoded or mask_text(decoded) != decoded):
            return MASK
    return found[0]


def _decoded(text: str) -> str:
    """Read base64 of either alphabet; empty when it is not the base64 of a printable text."""
    bare = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return plain if plain.isprintable() else ""


def _mask_token(found: re.Match[str]) -> str:
    """Hide a long word that mixes cases and digits: it is likely a key or a token."""
    word = found[0]
    kinds = (any(map(kind, word)) for kind in (str.islower, str.isupper, str.isdigit))
    return MASK if all(kinds) else word


_ID: Final = (
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|\b[ED][0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}\b|\b[0-9a-f]{32,128}\b"
)
_IDS: Final = re.compile(_ID)
_CNPJ: Final = r"(?<!\d)\d{2}[. ]?\d{3}[. ]?\d{3}(?:[/ ]|%2[Ff])?\d{4}[- ]?\d{2}(?!\d)"
_NEW_CNPJ: Final = (
    r"\b[0-9A-Za-z]{2}[. ]?[0-9A-Za-z]{3}[. ]?[0-9A-Za-z]{3}(?:[/ ]|%2[Ff])?"
    r"[0-9A-Za-z]{4}[- ]?\d{2}\b"
)
_CPF: Final = r"(?<!\d)\d{3}[. ]?\d{3}[. ]?\d{3}[-./ ]?\d{2}(?!\d)"
_PHONE: Final = (
    r"(?:\+|%2[Bb])\d{1,3}[ .-]?(?:\(\d{2,3}\)|\d{2,3})[ .-]?\d{3,5}[ .-]?\d{3,5}"
    r"|(?<!\d)55\d{10,11}(?!\d)|(?<!\d)(?:\(\d{2}\) ?|\d{2} )?9?\d{4}-\d{4}(?!\d)"
)
_NAMED: Final = (
    r"(?i)((?:password|passwd|pwd|senha|secret|token|api[-_]?key|pepper|credentials?|signature|chave)"
    r"[\w-]{0,40}[\"']?\s{0,8}[:=]\s{0,8})(?:\"[^\"]*\"?|'[^']*'?|[^\s,;&\"']+)"
)
_QUOTED: Final = re.compile(
    r"""(?s)(?<!\w)[bruf]?(?:'(?:\\.|[^'\\]|'(?=\w))*(?:'|\Z)|"(?:\\.|[^"\\]|"(?=\w))*(?:"|\Z))"""
)
_CONTROLS: Final = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Replace], ...]] = tuple(
    (re.compile(pattern), replace)
    for pattern, replace in (
        (r"(?s)-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|\Z)", f"pem {MASK}"),
        (r"(?i)000201[0-9a-z]{0,40}?br\.gov\.bcb\.pix[^\"\n]*", f"brcode {MASK}"),
        (r"(?i)((?:authorization|cookie)[\"']?\s{0,8}[:=]\s{0,8})[^\r\n]+", rf"\1{MASK}"),
        (r"(?i)(?<![a-z])(basic|bearer)(\s+|%20)[^\s\"',;]+", rf"\1 {MASK}"),
        (r"\beyJ[\w-]{5,}(?:\.[\w-]*){1,4}", f"jwt {MASK}"),
        (r"gws_[\w-]*", f"gws_{MASK}"),
        (r"whsec_[\w+/=-]*", f"whsec_{MASK}"),
        (r"([A-Za-z][A-Za-z0-9+.-]{0,40}://[^\s/:@]{0,200}):\S{0,1000}@", rf"\1:{MASK}@"),
        (r"(://)[^\s/:@]{1,200}@", rf"\1{MASK}@"),
        (_NAMED, rf"\1{MASK}"),
        (r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}", _mask_base64),
        (r"([\w.+'%-]{1,64})(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}", _mask_email),
        (
            rf"(?P<id>{_ID})|(?P<phone>{_PHONE})|(?P<cnpj>{_CNPJ})|(?P<cpf>{_CPF})",
            _keep_or_mask_digits,
        ),
        (
            r"\b[0-9A-Za-z]{2}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{3}(?:/|%2[Ff])[0-9A-Za-z]{4}-\d{2}\b",
            "**.***.***/****-**",
        ),
        (_NEW_CNPJ, _mask_new_cnpj),
        (r"(?<![\w-])[A-Za-z0-9_-]{40,}(?![\w-])", _mask_token),
    )
)
# A line a reader can take in; the rest of a message rarely helps and may quote a caller.
_LONGEST_MESSAGE = 500
_FRAMES = 12
_CAUSES = 4


def describe_failure(problem: BaseException, causes: int = _CAUSES) -> dict[str, object]:
    """
    Describe an exception and its causes.

    Neither source lines nor local variables; quoted parts of the message and
    the parameters of a statement are hidden.
    """
    fields: dict[str, object] = {
        "type": f"{type(problem).__module__}.{type(problem).__qualname__}",
        "text": _message(problem),
        "where": _frames(problem.__traceback__),
    }
    origin = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    if origin is not None and causes:
        fields["cause"] = describe_failure(origin, causes - 1)
    return fields


def _message(problem: BaseException) -> str:
    """Write the message; a database's only up to the statement and its values."""
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 - a broken __str__ must not hide the failure it belongs to
        return "unreadable"
    for end in ("\n[SQL", "\nDETAIL", "\n[parameters"):
        text = text.partition(end)[0]
    return mask_quoted(text)[:_LONGEST_MESSAGE]


def _frames(trace: TracebackType | None) -> list[str]:
    """Name the innermost places, outermost first."""
    places = [
        f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_qualname}"
        for frame, line in walk_tb(trace)
    ]
    return places[-_FRAMES:]
