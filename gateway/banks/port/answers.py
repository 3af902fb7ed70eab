"""
Checks of every value that a bank's adapter returns, before any other code reads it.

Adapters are written by many people. Each function takes the return value of a port call and returns
it typed: of the right classes, with amounts in range, instants with a zone, texts that can be
stored and shown, end-to-end ids of the central bank's form, lists no longer than requested, and
about the requested thing.

A text that people wrote never invalidates an answer: it is cleaned. An invalid row of a list is
left out, and the others stay; the caller counts it.

The outcome of a call that moves money is stored and acted upon, so it must agree with itself and
with the order:

- NotSent is no outcome of a call of which bytes have left, unless the bank's answer is listed
  as a refusal before execution, for the credential or the rate.
- Accepted and Settled are read from an answer of the bank; so is Rejected, unless no byte left.
- No outcome has another key or another amount than the order.
- Accepted is not an outcome for a known key ("duplicate") that was not compared with the order.

Source of these rules: docs/providers/outcomes.md.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NoReturn, TypeGuard, TypeVar

import msgspec

from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import (
    MOST_REGISTERED,
    CallbackKind,
    CallbackOrder,
    MissedEvent,
    NamedBy,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import (
    WHY,
    Accepted,
    Evidence,
    NotSent,
    Outcome,
    Page,
    Phase,
    PixReturn,
    Reason,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus
from gateway.banks.port.statements import Balance, Block, BlockKind, Direction, Entry, MovementKind
from gateway.core import strict
from gateway.core.money import LARGEST_SUM, MAX_CENTAVOS, Money, Sum

Item = TypeVar("Item")
Kind = TypeVar("Kind")
Result = TypeVar("Result", NotSent, Rejected, Accepted, Settled, Unknown)

REFUSED_BEFORE_EXECUTION: Final = frozenset({Reason.CREDENTIALS_REFUSED, Reason.RATE_LIMITED})
"""Why a bank may refuse a call that it has read and never executes."""

_OF_OWNERS: Final = (
    "name", "tax_number", "ispb", "bank_number", "bank_name", "branch", "account",
)  # fmt: skip
LONGEST_ID: Final = 128
"""Of a bank's id: what the store keeps, and four times what banks use."""
_IS_E2E_ID: Final = strict.E2E_ID.fullmatch
_MOST: Final = MAX_CENTAVOS
_LONGEST_CURSOR: Final = 4096  # a bank's cursor may be a signed token; none is as long as this
_MOST_BLOCKS: Final = 10_000  # one for each order under way, where a bank blocks them one by one
_MOST_KEYS: Final = 1000  # the central bank allows 20 an account
_UNREADABLE: Final = "\ufffd"  # an adapter's reader puts it where a bank's bytes are no text
_WORDS: Final = frozenset(map(str, Reason)) | WHY.keys()
_AFTER_A_BYTE: Final = frozenset({Phase.SENT, Phase.ANSWERED})
_STATUSES: Final = range(100, 600)
_OUTCOMES: Final = frozenset({NotSent, Rejected, Accepted, Settled, Unknown})
# Such as CBE101 or chave_nao_pertence_ao_documento; a sentence of the bank's is not kept.
_CODE: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:\-]{0,63}", re.ASCII)
# A bank may close for a night; a longer wait is a mistake, and some are no number at all.
_LONGEST_WAIT_S: Final = 86_400.0
_NO_CODE: Final = "unreadable"
_NO_CONTROLS: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))


class WrongAnswer(ValueError):
    """
    An adapter returned an invalid value.

    Attributes:
        field: Our name of the invalid part, such as ``balance.blocked``; never the value.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class OddValue(WrongAnswer):
    """An impossible value of the right class: banks send such values, too."""


def balance(answer: object) -> Balance:
    """Check a balance, which may be below zero; its blocked part may not."""
    found = of_type(answer, Balance, "balance")
    _sum(found.balance, "balance.balance")
    if found.blocked is not None:
        _sum(found.blocked, "balance.blocked", least=0)
    instant_or_none(found.updated_at, "balance.updated_at")
    return found


def statement(answer: object, cursor: str | None, limit: int) -> Page[Entry]:
    """Check a page of the statement."""
    return _page(answer, _entry, cursor, limit)


def keys(answer: object) -> Sequence[PixKey]:
    """Check the keys of an account."""
    return rows_of(list_of(answer, _MOST_KEYS, "keys"), _key)


def key(answer: object, account_id: str, key_id: str) -> PixKey:
    """Check one key, asked for by its public id."""
    found = _key(answer)
    same_as(found.public_id(account_id), key_id, "key.public_id")
    return found


def created_key(answer: object, order: KeyOrder) -> PixKey:
    """Check a key that was registered; a random one is drawn by the bank."""
    made = _key(answer)
    same_as(made.type, order.type, "key.type")
    same_as(made.key, order.key or made.key, "key.key")
    return made


def cancelled_key(answer: object, asked: PixKey) -> PixKey:
    """Check a cancelled key."""
    gone = _key(answer)
    same_as(gone.key, asked.key, "key.key")
    return gone


def key_owner(answer: object, asked: str) -> KeyOwner:
    """Check the owner of a key."""
    found = of_type(answer, KeyOwner, "key_owner")
    same_as(found.key, asked, "key_owner.key")
    of_type(found.type, PixKeyType, "key_owner.type")
    return _cleaned(found, "key_owner", *_OF_OWNERS)


def charge(answer: object, reference: str) -> Charge:
    """Check a charge, asked for by its reference."""
    found = _charge(answer, reference)
    if found.status is ChargeStatus.ACTIVE and not found.emv:  # nobody could pay it
        _refuse("charge.emv")
    return found


def _charge(answer: object, reference: str) -> Charge:
    found = of_type(answer, Charge, "charge")
    same_as(found.reference, reference, "charge.reference")
    of_type(found.type, ChargeType, "charge.type")
    of_type(found.status, ChargeStatus, "charge.status")
    of_type(found.reusable, bool, "charge.reusable")
    found = _with(
        _cleaned(found, "charge", "key", "city", "zip_code"),
        emv=_payload(found.emv, "charge.emv"),
        payer=_payer(found.payer, "charge.payer"),
        receiver=_party(found.receiver, "charge.receiver"),
    )
    _unsigned_or_none(found.value, "charge.value")
    instant_or_none(found.created_at, "charge.created_at")
    instant_or_none(found.expires_at, "charge.expires_at")
    return found


def created_charge(answer: object, order: ChargeOrder) -> Charge:
    """Check a created charge; its payload may be missing at first."""
    made = _charge(answer, order.reference)
    same_as(made.value, order.value, "charge.value")
    return made


def charge_payment(answer: object, reference: str) -> ChargePayment:
    """Check a charge seen as a transaction."""
    found = of_type(answer, ChargePayment, "transaction")
    same_as(found.reference, reference, "transaction.reference")
    _unsigned_or_none(found.value, "transaction.value")
    instant_or_none(found.created_at, "transaction.created_at")
    instant_or_none(found.paid_at, "transaction.paid_at")
    e2e_id(found.e2e_id, "transaction.e2e_id")
    return _with(found, payer=_payer(found.payer, "transaction.payer"))


def received(answer: object, asked: str) -> IncomingPayment:
    """Check a payment received, asked for by its end-to-end id."""
    found = _received(answer)
    same_as(found.e2e_id, asked, "received.e2e_id")
    return found


def received_page(answer: object, cursor: str | None, limit: int) -> Page[IncomingPayment]:
    """Check a page of payments received."""
    return _page(answer, _received, cursor, limit)


def refund(answer: object, provider_key: str) -> Refund:
    """Check a refund, queried by our key: our own refunds name their payment."""
    found = _refund(answer)
    e2e_id(found.payment_e2e_id, "refund.payment_e2e_id", or_empty=False)
    same_as(found.provider_key, provider_key, "refund.provider_key")
    return found


def refund_page(answer: object, cursor: str | None, limit: int) -> Page[Refund]:
    """Check a page of refunds."""
    return _page(answer, _refund, cursor, limit)


def blocks(answer: object) -> Sequence[Block]:
    """Check the blocks of an account."""
    return rows_of(list_of(answer, _MOST_BLOCKS, "blocks"), _block)


def nothing(_answer: object) -> None:
    """Accept any return value of a probe: returning is enough."""


def e2e_id(value: object, field: str, *, or_empty: bool = True) -> None:
    """Check an end-to-end id of either way; empty where there is none."""
    if value == "" and or_empty:
        return
    if not strict.is_e2e_id(of_type(value, str, field)):
        raise OddValue(field)


def bank_id(value: object, field: str) -> None:
    """Check an id that a bank gave; empty where it gives none, and never a damaged one."""
    plain_text(value, field, LONGEST_ID)
    if _UNREADABLE in str(value):
        raise OddValue(field)


def amount_above_zero(value: object, field: str) -> None:
    """Check an amount that moved."""
    if _unsigned(value, field) == 0:
        raise OddValue(field)


def _page(
    answer: object, item: Callable[[object], Item], cursor: str | None, limit: int
) -> Page[Item]:
    """Check a page after a cursor; the same object if all of it is valid."""
    page: Page[Item] = of_type(answer, Page, "page")
    found = list_of(page.items, limit, "page.items")
    kept = rows_of(found, item)
    if len(kept) != len(found) or any(map(operator.is_not, kept, found)):
        page = dataclasses.replace(page, items=kept)
    field, following = "page.next_cursor", page.next_cursor
    if following is not None:
        plain_text(following, field, _LONGEST_CURSOR)
        if following in {"", cursor}:  # the same place again: the list would never end
            raise WrongAnswer(field)
    return page


def rows_of(found: Sequence[object], check: Callable[[object], Item]) -> list[Item]:
    """
    Return the valid rows of a list, their texts cleaned; invalid ones are left out.

    Raises:
        WrongAnswer: no row is left, and one has wrong classes: the adapter is faulty.
    """
    try:
        return [check(each) for each in found]
    except WrongAnswer:
        return _right_ones(found, check)


def _right_ones(found: Sequence[object], check: Callable[[object], Item]) -> list[Item]:
    kept: list[Item] = []
    mistakes: list[WrongAnswer] = []
    for each in found:
        try:
            kept.append(check(each))
        except OddValue:
            continue
        except WrongAnswer as wrong:
            mistakes.append(wrong)
    if mistakes and not kept:
        raise mistakes[0]
    return kept


def list_of(value: object, most: int, field: str) -> Sequence[object]:
    """Return a list, bounded in length."""
    if not (type(value) is tuple or type(value) is list) or len(value) > most:
        raise WrongAnswer(field)
    return value


def _entry(answer: object) -> Entry:
    """Check a movement. A statement has thousands, so the usual kind has a fast path."""
    found = of_type(answer, Entry, "entry")
    return found if _is_usual(found) else _looked_over(found)


def _is_usual(entry: Entry) -> bool:
    """Return whether nothing is unusual; unusual movements may be valid, too."""
    value: object = entry.value
    at: object = entry.created_at
    party: object = entry.counterparty
    e2e: object = entry.e2e_id
    if not (
        (type(value) is Money and type(value.centavos) is int and 0 <= value.centavos <= _MOST)
        and (type(at) is datetime and at.tzinfo is UTC)
        and (type(entry.direction) is Direction and type(entry.kind) is MovementKind)
        and (type(party) is Party and type(entry.is_pix) is bool)
        and (type(e2e) is str and (e2e == "" or _IS_E2E_ID(e2e)))
    ):
        return False
    ids = entry.provider_id, entry.provider_key
    try:
        texts = "".join((*ids, entry.description, party.name, party.tax_number))
    except TypeError:
        return False
    return len(texts) <= LONGEST_ID and texts.isprintable() and _UNREADABLE not in texts


def _looked_over(found: Entry) -> Entry:
    """Check every part of a movement, and name the invalid part."""
    bank_id(found.provider_id, "entry.provider_id")
    bank_id(found.provider_key, "entry.provider_key")
    e2e_id(found.e2e_id, "entry.e2e_id")
    of_type(found.direction, Direction, "entry.direction")
    of_type(found.is_pix, bool, "entry.is_pix")
    of_type(found.kind, MovementKind, "entry.kind")
    _unsigned(found.value, "entry.value")
    instant(found.created_at, "entry.created_at")
    party = _party(found.counterparty, "entry.counterparty")
    return _with(_cleaned(found, "entry", "description"), counterparty=party)


def _block(answer: object) -> Block:
    found = of_type(answer, Block, "block")
    of_type(found.kind, BlockKind, "block.kind")
    amount_above_zero(found.value, "block.value")
    instant_or_none(found.since, "block.since")
    return _cleaned(found, "block", "reference")


def _key(answer: object) -> PixKey:
    found = of_type(answer, PixKey, "key")
    bank_id(found.provider_id, "key.provider_id")
    plain_text(found.key, "key.key", LONGEST_ID)
    of_type(found.type, PixKeyType, "key.type")
    of_type(found.status, PixKeyStatus, "key.status")
    instant_or_none(found.created_at, "key.created_at")
    return found


def _received(answer: object) -> IncomingPayment:
    found = of_type(answer, IncomingPayment, "received")
    bank_id(found.provider_id, "received.provider_id")
    e2e_id(found.e2e_id, "received.e2e_id", or_empty=False)
    amount_above_zero(found.value, "received.value")
    _unsigned(found.refunded, "received.refunded", found.value.centavos)
    instant(found.paid_at, "received.paid_at")
    return _with(
        found,
        reference=_reference(found.reference, "received.reference"),
        payer=_payer(found.payer, "received.payer"),
    )


def _refund(answer: object) -> Refund:
    found = of_type(answer, Refund, "refund")
    bank_id(found.provider_key, "refund.provider_key")
    bank_id(found.provider_id, "refund.provider_id")
    e2e_id(found.payment_e2e_id, "refund.payment_e2e_id")
    e2e_id(found.return_id, "refund.return_id")
    amount_above_zero(found.value, "refund.value")
    of_type(found.status, RefundStatus, "refund.status")
    if found.failure is not None:
        of_type(found.failure, FailureCode, "refund.failure")
    instant(found.created_at, "refund.created_at")
    instant_or_none(found.settled_at, "refund.settled_at")
    return _with(
        _cleaned(found, "refund", "description"),
        reference=_reference(found.reference, "refund.reference"),
        payment_reference=_reference(found.payment_reference, "refund.payment_reference"),
    )


def _payer(value: object, field: str) -> Payer | None:
    """Check a payer, who may be missing."""
    if value is None:
        return None
    return _cleaned(of_type(value, Payer, field), field, "name", "tax_number", "message")


def _party(value: object, field: str) -> Party:
    return _cleaned(of_type(value, Party, field), field, "name", "tax_number")


def _payload(value: object, field: str) -> str:
    """Return a charge's payload without line breaks."""
    text = of_type(value, str, field).translate(_NO_CONTROLS).strip()
    return _reference(text, field)


def _reference(value: object, field: str) -> str:
    """Return a reference; empty for an invalid one, which cleaned could be another charge's."""
    try:
        plain_text(value, field)
    except OddValue:
        return ""
    return str(value)


def _cleaned(found: Kind, field: str, *names: str) -> Kind:
    """Return a value with its texts, written by people, cleaned for storing and showing."""
    texts = {name: of_type(getattr(found, name), str, f"{field}.{name}") for name in names}
    return _with(found, **{name: _clean(text) for name, text in texts.items()})


def _clean(text: str) -> str:
    clean = strict.cleaned_text(text)
    return text if clean == text else clean.strip()


def _with(found: Kind, **parts: object) -> Kind:
    """Return a value with these parts; the same object if nothing changes."""
    new: dict[str, Any] = {
        name: part for name, part in parts.items() if part is not getattr(found, name)
    }
    if not new:
        return found
    if isinstance(found, msgspec.Struct):
        return msgspec.structs.replace(found, **new)
    replaced: Any = dataclasses.replace(found, **new)  # type: ignore[type-var]
    return of_type(replaced, type(found), "")


def plain_text(value: object, field: str, longest: int = strict.MAX_TEXT) -> None:
    """Check a text: none of the control characters, no half of a character, not too long."""
    if type(value) is not str:
        raise WrongAnswer(field)
    if len(value) > longest:
        raise OddValue(field)
    if not value.isprintable():  # spaces of other scripts are not, and are welcome
        try:
            strict.plain_text(value, longest)
        except strict.Malformed:
            raise OddValue(field) from None


def of_type(value: object, kind: type[Kind], field: str) -> Kind:
    """Return a value of exactly this type; a subclass could behave otherwise."""
    if type(value) is not kind:
        raise WrongAnswer(field)
    return value


def same_as(value: object, asked: object, field: str) -> None:
    """Check that the answer is about the requested thing."""
    if type(value) is not type(asked) or value != asked:
        raise WrongAnswer(field)


def _sum(value: object, field: str, least: int = -LARGEST_SUM) -> None:
    """Check a sum, which an amount is too."""
    if not isinstance(value, Sum) or type(value) not in {Sum, Money}:
        raise WrongAnswer(field)
    if type(value.centavos) is not int or not least <= value.centavos <= LARGEST_SUM:
        raise WrongAnswer(field)


def _amount(value: object, field: str) -> int:
    """Check an amount, and return its centavos."""
    if type(value) is not Money:
        raise WrongAnswer(field)
    centavos = value.centavos
    if type(centavos) is not int or not -MAX_CENTAVOS <= centavos <= MAX_CENTAVOS:
        raise WrongAnswer(field)  # an amount of our class has these limits
    return centavos


def _unsigned(value: object, field: str, most: int = MAX_CENTAVOS) -> int:
    """Check an amount without a sign, and return its centavos."""
    centavos = _amount(value, field)
    if not 0 <= centavos <= most:
        raise OddValue(field)
    return centavos


def _unsigned_or_none(value: object, field: str) -> None:
    if value is not None:
        _unsigned(value, field)


def instant(value: object, field: str) -> None:
    """Check an instant: with a zone, and one that can be written in UTC."""
    if type(value) is not datetime or value.tzinfo is None:
        raise WrongAnswer(field)
    if value.tzinfo is not UTC:
        try:
            aware = value.utcoffset() is not None and value.astimezone(UTC)
        except (OverflowError, ValueError):
            aware = False
        if not aware:
            raise OddValue(field)


def instant_or_none(value: object, field: str) -> None:
    """Check an instant that may be missing."""
    if value is not None:
        instant(value, field)


def known_reason(reason: object) -> str:
    """Return a reason that is one of our words; any other text may be the bank's."""
    is_ours = isinstance(reason, str) and reason in _WORDS
    return str(reason) if is_ours else Reason.UNLISTED_REASON.value


def is_wait(seconds: object) -> TypeGuard[float]:
    """Return whether the wait is plausible: a finite number of seconds."""
    return (type(seconds) is int or type(seconds) is float) and 0 <= seconds <= _LONGEST_WAIT_S


def ordered_outcome(answer: object, provider_key: str, value: Money) -> Outcome:
    """
    Check the outcome of an order.

    Raises:
        WrongAnswer: the order's outcome is unknown, despite the answer.
    """
    result = _outcome(answer, provider_key)
    if isinstance(result, Accepted):
        if result.value is not None:
            same_as(result.value, value, "outcome.value")
        if result.evidence.reason == Reason.DUPLICATE:
            _refuse("outcome.not_compared")
    elif isinstance(result, Settled):
        same_as(result.value, value, "outcome.value")
    return result


def found_outcome(answer: object, provider_key: str) -> Outcome:
    """
    Check the result of a look-up; the caller compares the amount.

    Raises:
        WrongAnswer: the result proves nothing about the payout.
    """
    result = _outcome(answer, provider_key)
    if isinstance(result, NotSent):
        _refuse("outcome")  # what is found was sent
    if isinstance(result, Rejected):
        _require_answered(result.evidence)
    return result


def _outcome(answer: object, provider_key: str) -> Outcome:
    """Check an outcome, and that it is about this key."""
    if type(answer) not in _OUTCOMES:
        _refuse("outcome")
    match answer:
        case Accepted():
            return _accepted(_with_our_words(answer), provider_key)
        case Settled():
            return _settled(_with_our_words(answer), provider_key)
        case Rejected():
            return _rejected(_with_our_words(answer), provider_key)
        case NotSent():
            return _not_sent(_with_our_words(answer))
        case Unknown():
            return _with_our_words(answer)
    return _refuse("outcome")


def _accepted(result: Accepted, provider_key: str) -> Accepted:
    _require_answered(result.evidence)
    _require_ids(result, provider_key)
    instant_or_none(result.held_until, "outcome.held_until")
    return result


def _settled(result: Settled, provider_key: str) -> Settled:
    _require_answered(result.evidence)
    _require_ids(result, provider_key)
    amount_above_zero(result.value, "outcome.value")
    instant_or_none(result.settled_at, "outcome.settled_at")
    _require_returns(result.returns)
    return result


def _require_returns(returns: object) -> None:
    for each in of_type(returns, tuple, "outcome.returns"):
        found = of_type(each, PixReturn, "outcome.returns")
        e2e_id(found.id, "outcome.returns.id", or_empty=False)
        if not found.id.startswith("D"):
            _refuse("outcome.returns.id")
        amount_above_zero(found.value, "outcome.returns.value")
        instant(found.at, "outcome.returns.at")


def _rejected(result: Rejected, provider_key: str) -> Rejected:
    """Check a rejection: the bank's, or ours before the bank was called."""
    if result.evidence.bytes_left:
        _require_answered(result.evidence)
    _require_key(result, provider_key)
    of_type(result.failure, FailureCode, "outcome.failure")
    of_type(result.forbidden, bool, "outcome.forbidden")
    return result


def _not_sent(result: NotSent) -> NotSent:
    """Check that no byte left, or that the bank stated why it executed nothing."""
    if result.evidence.bytes_left:
        _require_answered(result.evidence)
        if result.evidence.reason not in REFUSED_BEFORE_EXECUTION:
            _refuse("outcome.evidence.reason")
    if result.retry_after is not None and not is_wait(result.retry_after):
        _refuse("outcome.retry_after")
    return result


def _require_answered(evidence: Evidence) -> None:
    """Check that the outcome comes from an answer of the bank."""
    if evidence.phase is not Phase.ANSWERED:
        _refuse("outcome.evidence.phase")


def _require_ids(result: Accepted | Settled, provider_key: str) -> None:
    """Check the ids of an outcome; if it has our key, it must be the order's."""
    bank_id(result.provider_id, "outcome.provider_id")
    e2e_id(result.e2e_id, "outcome.e2e_id")
    _require_key(result, provider_key)


def _require_key(result: Accepted | Settled | Rejected, provider_key: str) -> None:
    if result.provider_key != "":
        same_as(result.provider_key, provider_key, "outcome.provider_key")


def _with_our_words(result: Result) -> Result:
    """Check the evidence; unknown words in it are replaced: they prove nothing."""
    evidence = of_type(result.evidence, Evidence, "outcome.evidence")
    of_type(evidence.phase, Phase, "outcome.evidence.phase")
    of_type(evidence.bytes_left, bool, "outcome.evidence.bytes_left")
    if evidence.bytes_left is not (evidence.phase in _AFTER_A_BYTE):
        _refuse("outcome.evidence.bytes_left")
    if evidence.http_status is not None:
        status = of_type(evidence.http_status, int, "outcome.evidence.http_status")
        if status not in _STATUSES:
            _refuse("outcome.evidence.http_status")
    reason, code = known_reason(evidence.reason), _code(evidence.provider_code)
    if (reason, code) == (evidence.reason, evidence.provider_code):
        return result
    evidence = dataclasses.replace(evidence, reason=reason, provider_code=code)
    return dataclasses.replace(result, evidence=evidence)


def _code(code: object) -> str:
    """Return a bank's code; anything but a short word may be a text about people."""
    is_one = type(code) is str and (code == "" or _CODE.fullmatch(code) is not None)
    return str(code) if is_one else _NO_CODE


def _refuse(field: str) -> NoReturn:
    raise WrongAnswer(field)


def notice(answer: object) -> Notice:
    """
    Check one statement that an adapter read from a callback.

    Its texts are the bank's; unstorable texts are dropped later.

    Raises:
        WrongAnswer: it has not the types of the port.
    """
    found = of_type(answer, Notice, "notice")
    for name in ("event", "subject", "account", "provider_id"):
        of_type(getattr(found, name), str, f"notice.{name}")
    of_type(found.kind, CallbackKind, "notice.kind")
    of_type(found.named_by, NamedBy, "notice.named_by")
    of_type(found.part, bytes, "notice.part")
    return found


def registered(answer: object, order: CallbackOrder) -> RegisteredCallback:
    """Check a registration that a bank returned; raises ``WrongAnswer``."""
    made = _registered(answer)
    same_as(made.url, order.url, "registered_callback.url")
    return made


def registrations(answer: object) -> Sequence[RegisteredCallback]:
    """Check a bank's registered addresses; raises ``WrongAnswer``."""
    return rows_of(list_of(answer, MOST_REGISTERED, "registered_callbacks"), _registered)


def missed_events(answer: object, limit: int) -> Sequence[MissedEvent]:
    """Check undelivered events; raises ``WrongAnswer``."""
    return rows_of(list_of(answer, limit, "missed_events"), _missed)


def _registered(answer: object) -> RegisteredCallback:
    found = of_type(answer, RegisteredCallback, "registered_callback")
    bank_id(found.id, "registered_callback.id")
    plain_text(found.url, "registered_callback.url")
    return found


def _missed(answer: object) -> MissedEvent:
    found = of_type(answer, MissedEvent, "missed_event")
    bank_id(found.id, "missed_event.id")
    if not found.id:
        _refuse("missed_event.id")
    notice(found.notice)
    of_type(found.body, bytes, "missed_event.body")
    return found
