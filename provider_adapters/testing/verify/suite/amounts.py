"""Cases about money in answers: an amount is what the bank stated exactly, or the answer is bad."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import BadReply
from gateway.domain.bank.statements import Direction
from gateway.domain.kernel.money import Money
from provider_adapters.testing.verify.cases import CaseFailed, case
from provider_adapters.testing.verify.relay import PASS_ON, Act, from_request
from provider_adapters.testing.verify.stage import Charge, NotApplicable, Received
from provider_adapters.testing.verify.suite.reads import quiet_day, walked
from provider_adapters.testing.verify.trial import Harness, Trial

_VALUE: Final = Money(7_654_31)
"""Whose digits stand for nothing else in an answer."""
_READS: Final = (PortCall.GET_BALANCE, PortCall.LIST_STATEMENT, PortCall.GET_CHARGE)
_BEGINS: Final = rb'(?<![0-9.\-"A-Za-z])'
_ENDS: Final = rb"(?![0-9.eE])"

Read = Callable[[Harness], Awaitable[Money | None]]
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
    wrong: Mapping[str, bytes]
    exact: Mapping[str, Money]


@case("reads.amount")
async def amount(trial: Trial) -> None:
    """Amounts are those of the bank's books, to the centavo."""
    async with trial.harness() as harness:
        for call, (read, wanted) in (await _reads(trial, harness)).items():
            told = await read(harness)
            trial.expect(told == wanted, f"{call} tells {told} and not {wanted}")


@case("reads.third_decimal")
async def third_decimal(trial: Trial) -> None:
    """A part of a centavo is a BadReply."""
    await _refused(trial, "third decimal")


@case("reads.exponent")
async def exponent(trial: Trial) -> None:
    """A number with an exponent is a BadReply, or exact."""
    await _refused(trial, "exponent")


@case("reads.negative")
async def negative(trial: Trial) -> None:
    """An amount below zero is never taken for one above."""
    await _refused(trial, "negative")


@case("reads.other_type")
async def other_type(trial: Trial) -> None:
    """A text where the bank writes a number, or the reverse, is the same amount or BadReply."""
    await _refused(trial, "other type")


@case("reads.no_amount")
async def no_amount(trial: Trial) -> None:
    """What is no amount at all is a BadReply."""
    await _refused(trial, "no amount")


async def _reads(trial: Trial, harness: Harness) -> Mapping[PortCall, tuple[Read, Money]]:
    """Put an amount where each declared read shows it; returns the reads and what they show."""
    calls = trial.capabilities.calls
    made: dict[PortCall, tuple[Read, Money]] = {}
    if PortCall.LIST_STATEMENT in calls:
        at = quiet_day().start + timedelta(hours=12)
        await trial.stage.put(trial.account, Received(value=_VALUE, at=at))
        made[PortCall.LIST_STATEMENT] = partial(_of_entry, trial), _VALUE
    if PortCall.GET_CHARGE in calls:
        reference = await trial.stage.put(trial.account, Charge(value=_VALUE))
        made[PortCall.GET_CHARGE] = partial(_of_charge, trial, reference), _VALUE
    if PortCall.GET_BALANCE in calls:
        before = await _of_balance(trial, harness)
        await trial.stage.put(trial.account, Received(value=_VALUE))
        after = Money(before.centavos + _VALUE.centavos)
        made[PortCall.GET_BALANCE] = partial(_of_balance, trial), after
    if not made:
        message = f"none of {', '.join(_READS)} is declared"
        raise NotApplicable(message)
    return made


async def _refused(trial: Trial, mistake: str) -> None:
    """Expect BadReply of every declared read whose answer has this mistake."""
    played = 0
    async with trial.harness() as harness:
        for call, (read, value) in (await _reads(trial, harness)).items():
            spoilt = _Spoilt(value, mistake)
            harness.relay.begin(from_request(1, Act(alter=spoilt)))
            told = await _told(read, harness)
            harness.relay.begin(from_request(1, PASS_ON))
            if spoilt.form is None:
                continue
            played += 1
            allowed = {None, spoilt.form.exact.get(mistake)}
            text = spoilt.form.wrong[mistake].decode()
            trial.expect(told in allowed, f"{call} reads {text} for {value} as {told}")
    if not played:
        message = "no answer shows an amount in centavos, as a text or as a number"
        raise NotApplicable(message)


@dataclass(slots=True)
class _Spoilt:
    """Makes the amount of an answer wrong; ``form`` is how the bank writes it, once seen."""

    value: Money
    mistake: str
    form: Form | None = None

    def __call__(self, body: bytes) -> bytes:
        """Change every place that shows the amount."""
        for form in _forms(self.value):
            if self.mistake in form.wrong and re.search(form.pattern, body):
                self.form = form
                return re.sub(form.pattern, form.wrong[self.mistake], body)
        return body


async def _told(read: Read, harness: Harness) -> Money | None:
    """Read an amount; None for BadReply."""
    try:
        return await read(harness)
    except BadReply:
        return None


async def _of_balance(trial: Trial, harness: Harness) -> Money:
    return answers.balance(await harness.adapter.get_balance(trial.account)).balance


async def _of_charge(trial: Trial, reference: str, harness: Harness) -> Money | None:
    found = await harness.adapter.get_charge(trial.account, reference)
    return answers.charge(found, reference).value


async def _of_entry(trial: Trial, harness: Harness) -> Money | None:
    """Return the only entry of the day; below zero for money that went out."""
    entries = await walked(trial, harness, quiet_day())
    if len(entries) != 1:
        message = f"the day has {len(entries)} entries and not one"
        raise CaseFailed(message)
    came_in = entries[0].direction is Direction.CREDIT
    return entries[0].value if came_in else Money(-entries[0].value.centavos)


def _forms(value: Money) -> Iterator[Form]:
    """Return how banks write an amount: as a text, in whole centavos, as a number in reais."""
    reais, less = str(value), Money(-value.centavos)
    yield Form(
        pattern=b'"%s"' % re.escape(reais).encode(),
        wrong={
            "third decimal": f'"{reais}7"'.encode(),
            "exponent": f'"{_scientific(value, -2)}"'.encode(),
            "negative": f'"-{reais}"'.encode(),
            "other type": reais.encode(),
            "no amount": b'"abc"',
        },
        exact={"exponent": value, "negative": less, "other type": value},
    )
    exact = {"negative": less, "other type": value}
    yield _number(str(value.centavos), f"{value.centavos}.5", _scientific(value), exact)
    yield _number(reais.rstrip("0"), f"{reais}7", _scientific(value, -2), exact)


def _number(right: str, finer: str, scientific: str, exact: Mapping[str, Money]) -> Form:
    """Return a form that is a JSON number, with zeros behind it or without."""
    whole = "." not in right
    return Form(
        pattern=_BEGINS + re.escape(right).encode() + (b"" if whole else b"0*") + _ENDS,
        wrong={
            "third decimal": finer.encode(),
            "exponent": scientific.replace("e", "7e").encode(),
            "negative": f"-{right}".encode(),
            "other type": f'"{right}"'.encode(),
            "no amount": b"true",
        },
        exact=exact,
    )


def _scientific(value: Money, shift: int = 0) -> str:
    """Write centavos with an exponent, which is moved by ``shift``."""
    digits = str(value.centavos)
    return f"{digits[0]}.{digits[1:]}e{len(digits) - 1 + shift}"
