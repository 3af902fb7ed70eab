"""SQL conditions of payouts' certainty; see ``certainty_of``."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, and_, case, false, func, not_, or_

from gateway.banks.port.payout_orders import FailureCode
from gateway.payouts.model import Absence, Certainty, PayoutState, certainty_when
from gateway.store.tables.core import payouts

_BY_BANK: Final = func.coalesce(payouts.c.absence == Absence.BANK.value, false())
_BY_PEOPLE: Final = func.coalesce(payouts.c.absence == Absence.PEOPLE.value, false())
_FAILED: Final = payouts.c.state == PayoutState.FAILED.value
_DECIDED: Final = and_(_FAILED, _BY_PEOPLE)
_FAILED_UNSENT: Final = and_(
    _FAILED,
    func.coalesce(payouts.c.failure_code == FailureCode.NOT_SENT.value, false()),
    not_(_BY_PEOPLE),
)
_UNSENT: Final = or_(payouts.c.state == PayoutState.NOT_SENT.value, _FAILED_UNSENT)
_BY_STATE: Final = {each: certainty_when(each, None, None) for each in PayoutState}

CERTAINTY: Final = case(
    (and_(_UNSENT, _BY_BANK), Certainty.NOT_EXECUTED.value),
    (_UNSENT, Certainty.NOT_SENT.value),
    (_DECIDED, Certainty.DECIDED_UNPAID.value),
    *((payouts.c.state == state.value, word.value) for state, word in _BY_STATE.items()),
).label("certainty")
"""The word of each payout, as a column."""


def proven(word: Certainty) -> ColumnElement[bool]:
    """Return the SQL condition of a word."""
    match word:
        case Certainty.NOT_SENT:
            return and_(_UNSENT, not_(_BY_BANK))
        case Certainty.NOT_EXECUTED:
            return and_(_UNSENT, _BY_BANK)
        case Certainty.DECIDED_UNPAID:
            return _DECIDED
        case Certainty.CONFIRMED_REJECTED:
            return and_(_stands(word), not_(_FAILED_UNSENT), not_(_DECIDED))
        case _:
            return _stands(word)


def _stands(word: Certainty) -> ColumnElement[bool]:
    return payouts.c.state.in_([each.value for each in PayoutState if _BY_STATE[each] is word])
