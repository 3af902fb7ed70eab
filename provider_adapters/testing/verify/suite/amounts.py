"""Cases about money in answers: an amount is what the bank stated exactly, or the answer is bad."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import BadReply
from gateway.domain.bank.statements import Direction
from gateway.domain.kernel.money import Money
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import PASS_ON, Act, from_request
from provider_adapters.testing.verify.stage import Charge, Received
from provider_adapters.testing.verify.suite.reads import noon, walked
from provider_adapters.testing.verify.trial import Trial

_VALUE: Final = Money(7_654_31)
"""Whose digits stand for nothing else in an answer."""
_BEGINS: Final = rb'(?<![0-9.\-"A-Za-z])'
_ENDS: Final = rb"(?![0-9.eE])"

Read = Callable[[], Awaitable[Money | None]]
"""Reads an amount through the adapter, signed; None where it is not shown any more."""


@dataclass(frozen=True, slots=True)
class Form:
    """
    A way in which banks write an amount, and how it can be wrong.

    Attributes:
        pattern: Matches the amount in an answer.
        wrong: What stands there instead, by the name of the mistake.
        exact: Mistakes that may be read all the same, as the amount they are.
    """

    pattern: bytes
    wrong: Mapping[str, str]
    exact: Mapping[str, Money]


@case("reads.amount")
async def amount(trial: Trial) -> None:
    """Amounts are those of the bank's books, to the centavo."""
    for call, (read, wanted) in (await _reads(trial)).items():
        assert await read() == wanted, call


@case("reads.third_decimal", "third decimal")
@case("reads.exponent", "exponent")
@case("reads.negative", "negative")
@case("reads.other_type", "other type")
@case("reads.no_amount", "no amount")
async def wrong_amount(trial: Trial, mistake: str) -> None:
    """An amount that the bank does not write so is a BadReply, or read as exactly what it is."""
    played = False
    for call, (read, value) in (await _reads(trial)).items():
        spoilt: list[Form] = []

        def alter(body: bytes, value: Money = value, spoilt: list[Form] = spoilt) -> bytes:
            for form in _forms(value):
                if re.search(form.pattern, body):
                    spoilt.append(form)
                    return re.sub(form.pattern, form.wrong[mistake].encode(), body)
            return body

        trial.relay.begin(from_request(1, Act(alter=alter)))
        try:
            told = await read()
        except BadReply:
            told = None
        trial.relay.begin(lambda _: PASS_ON)
        for form in spoilt:
            played = True
            wrong = form.wrong[mistake]
            assert told in {None, form.exact.get(mistake)}, f"{call} reads {wrong} for {value}"
    applies_if(played, "no answer shows an amount in centavos, as a text or as a number")


async def _reads(trial: Trial) -> Mapping[PortCall, tuple[Read, Money]]:
    """Put an amount where each declared read shows it; returns the reads and what they show."""
    made: dict[PortCall, tuple[Read, Money]] = {}
    if trial.can(PortCall.LIST_STATEMENT):
        # in the zone of a bank that tells days alone, too, nothing else is on that day
        await trial.stage.put(trial.account, Received(value=_VALUE, at=noon(trial, -3)))
        made[PortCall.LIST_STATEMENT] = (lambda: _of_entry(trial)), _VALUE
    if trial.can(PortCall.GET_CHARGE):
        reference = await trial.stage.put(trial.account, Charge(value=_VALUE))
        made[PortCall.GET_CHARGE] = (lambda: _of_charge(trial, reference)), _VALUE
    if trial.can(PortCall.GET_BALANCE):
        before = await _of_balance(trial)
        await trial.stage.put(trial.account, Received(value=_VALUE))
        after = Money(before.centavos + _VALUE.centavos)
        made[PortCall.GET_BALANCE] = (lambda: _of_balance(trial)), after
    applies_if(made, "none of get_balance, list_statement, get_charge is declared")
    return made


async def _of_balance(trial: Trial) -> Money:
    return answers.balance(await trial.adapter.get_balance(trial.account)).balance


async def _of_charge(trial: Trial, reference: str) -> Money | None:
    found = await trial.adapter.get_charge(trial.account, reference)
    return answers.charge(found, reference).value


async def _of_entry(trial: Trial) -> Money | None:
    """Return the only entry of the day; below zero for money that went out."""
    [entry] = await walked(trial, trial.days(-3, -3))
    came_in = entry.direction is Direction.CREDIT
    return entry.value if came_in else Money(-entry.value.centavos)


def _forms(value: Money) -> Iterator[Form]:
    """Return how banks write an amount: as a text, in whole centavos, as a number in reais."""
    reais, less = str(value), Money(-value.centavos)
    yield Form(
        pattern=b'"%s"' % re.escape(reais).encode(),
        wrong={
            "third decimal": f'"{reais}7"',
            "exponent": f'"{_scientific(value, -2)}"',
            "negative": f'"-{reais}"',
            "other type": reais,
            "no amount": '"abc"',
        },
        exact={"exponent": value, "negative": less, "other type": value},
    )
    exact = {"negative": less, "other type": value}
    yield _number(str(value.centavos), f"{value.centavos}.5", _scientific(value), exact)
    yield _number(reais.rstrip("0"), f"{reais}7", _scientific(value, -2), exact)


def _number(right: str, finer: str, scientific: str, exact: Mapping[str, Money]) -> Form:
    """Return a form that is a JSON number, with zeros behind it or without."""
    zeros = b"0*" if "." in right else b""
    return Form(
        pattern=_BEGINS + re.escape(right).encode() + zeros + _ENDS,
        wrong={
            "third decimal": finer,
            "exponent": scientific.replace("e", "7e"),
            "negative": f"-{right}",
            "other type": f'"{right}"',
            "no amount": "true",
        },
        exact=exact,
    )


def _scientific(value: Money, shift: int = 0) -> str:
    """Write centavos with an exponent, which is moved by ``shift``."""
    digits = str(value.centavos)
    return f"{digits[0]}.{digits[1:]}e{len(digits) - 1 + shift}"
