"""
Pages of a new payout: form, summary, order.

For a key, its owner is looked up first. The owner of a bank account cannot be looked up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import uuid4

from gateway.banks.failures import PAYOUT_FAILS, bank_fails
from gateway.banks.port.payout_orders import AccountType, PayoutMethod
from gateway.banks.port.providers import ProviderError
from gateway.banks.port.statements import Balance
from gateway.banks.readings import Readings
from gateway.banks.service import BankReports
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.approvals import Approval, WaitingMoney
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.permissions import Action
from gateway.core.priority import Priority
from gateway.core.rights import Area, Right
from gateway.core.strict import hidden_tax_number, is_other_number
from gateway.core.windows import Listed
from gateway.http.panel.pages.formats import typed_key, typed_money
from gateway.http.panel.pages.kit import (
    KnownAccount,
    PageContext,
    Pages,
    Part,
    go_on,
    part,
    typed,
)
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.rendering import refusal_of
from gateway.payouts.bodies import KEY_PAYOUT, withdraw_input
from gateway.payouts.model import NamedOwner, Payout, normal_destination
from gateway.payouts.recipients import (
    LOOKED_AT,
    RECIPIENTS,
    REMEMBERED,
    ChosenRecipient,
    PaidRecipients,
    RecipientChange,
    RecipientDocument,
    RecipientSearch,
)
from gateway.payouts.staff import PayoutActs
from gateway.pix_keys.orders import LOOKUP
from gateway.pix_keys.service import PixKeys
from policies.validation.forms import Form
from policies.validation.parameters import uuid

_PATH: Final = "/panel/accounts/{account_id}/payouts/{reference}"
_SEND: Final = "send"
_CORRECT: Final = "correct"
_MOST: Final = Money(100_000_000_00)
"""More is a slip of the hand; whoever means it orders in parts, or by the API."""
_STOP: Final = Right(Area.STOP, Action.WRITE)
_BALANCE_FAILS: Final = bank_fails(errors.BALANCE_UNAVAILABLE)
_NUMBERS: Final = ("cpf", "cnpj")
_KINDS: Final = (*_NUMBERS, "email", "phone", "evp")
_OWNER_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND)
_TO_ACCOUNT: Final = withdraw_input(PayoutMethod.BANK_ACCOUNT)
_DESTINATIONS: Final = {
    PayoutMethod.PIX: ("tax_number", "key_type", "key"),
    PayoutMethod.BANK_ACCOUNT: (
        *("name", "tax_number"),
        *("bank_number", "branch", "account", "account_type"),
    ),
}
"""What is typed of a recipient, by method: the names of the contract."""
_RECIPIENT: Final = ("account_id", "value", "description")
"""What is typed beside the recipient."""
_REASONS: Final = {PayoutMethod.PIX: ("difference_reason",), PayoutMethod.BANK_ACCOUNT: ()}


def _new_reference() -> str:
    return f"panel-{uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderServices:
    """
    Services of the order pages.

    Attributes:
        waits: Returns whether an order of a value needs another user.
        waiting: Reads the orders of money of an account that wait for another user.
    """

    keys: PixKeys
    acts: PayoutActs
    recipients: PaidRecipients
    balance: Callable[[Staff, Account], Awaitable[Balance]]
    readings: Readings
    banks: BankReports
    waits: Callable[[Money], bool]
    waiting: Callable[[Staff, Account], Awaitable[WaitingMoney]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _To:
    """
    Where a payout goes: as it was typed, or the recipient of an earlier payout.

    Attributes:
        destination: In the fields of the contract; with the whole numbers, for the order alone.
        shown: The same for people, who typed it or may not see all of it.
        chosen: None where it was typed.
    """

    method: PayoutMethod
    destination: Mapping[str, str]
    shown: Mapping[str, str]
    chosen: ChosenRecipient | None = None

    @classmethod
    def typed(cls, visit: Visit) -> _To:
        form, method = visit.form, _method(visit)
        by_key = {"key": _key(form)} if method is PayoutMethod.PIX else {}
        texts = {name: form[name] for name in _DESTINATIONS[method]} | by_key
        destination = texts | {"tax_number": _number(form)}
        shown = texts | {"tax_number": form["tax_number"] or form["key"]}
        return cls(method=method, destination=destination, shown=shown)

    @classmethod
    def again(cls, chosen: ChosenRecipient) -> _To:
        method, sent = chosen.payout.method, chosen.payout.destination_sent
        given = {name: text for name, text in sent.items() if text}
        texts = normal_destination(chosen.payout.destination) | given
        return cls(
            method=method,
            destination={name: texts[name] for name in _DESTINATIONS[method]},
            shown={"name": chosen.recipient.name} | chosen.recipient.destination,
            chosen=chosen,
        )


@dataclass(frozen=True, slots=True)
class OrderPages:
    """The form, its summary, and the order."""

    panel: Pages
    does: OrderServices
    new_reference: Callable[[], str] = _new_reference

    async def summary(self, visit: Visit, owner: Mapping[str, str], reference: str) -> Result:
        """Show the order, and its differences from the bank's data."""
        form, to = visit.form, await self._to(visit)
        method, by_key = to.method, to.method is PayoutMethod.PIX
        digits = "".join(filter(str.isalnum, to.destination["tax_number"]))
        is_chosen = to.chosen is not None
        data = {
            "account": (await part(self._account(visit))).data,
            "owner": owner,
            "method": method.value,
            "to": to.shown,
            "chosen": to.chosen.recipient if to.chosen else None,
            "changed": _changed(to, owner) if to.chosen else (),
            "typed": (*_RECIPIENT, *(("again",) if is_chosen else _DESTINATIONS[method])),
            "reference": reference,
            "value": _value(form),
            "waits": self.does.waits(_value(form)),
            "may_balance": self.panel.may(visit, self.does.balance),
            "differs": by_key and is_other_number(digits, owner["tax_number"]),
            "bank": None if by_key else await self.panel.bank(visit, to.destination["bank_number"]),
        }
        return Shown(template="money/new_payout_summary.html", data=data)

    async def form(self, visit: Visit) -> Result:
        """Fill in a payout, by key or to a bank account."""
        if visit.form["step"] == _SEND:  # it was refused: everything typed is shown again
            return await self.summary(visit, _owner(visit), visit.form["reference"])
        accounts, stops = await self.payers(visit), await self.panel.stops(visit)
        held = [
            each
            for each in stops
            if any(each.concerns(one.company.id, one.id, one.provider) for one in accounts)
        ]
        wanted = visit.form["account_id"] or visit.query("account_id")
        again = await self._again(visit)
        if again is not None and again.data is not None:  # they are of this account
            accounts = [each for each in accounts if each.id == wanted]
        method = again.data.payout.method if again and again.data else _method(visit)
        ids = [each.id for each in accounts]
        data = {
            "again": again,
            "chosen_recipient": again.data.recipient if again and again.data else None,
            "may_choose": self.panel.may(visit, self.does.recipients.page),
            "accounts": accounts,
            # as a browser shows a list of which nothing, or nothing that is there, is chosen
            "chosen": wanted if wanted in ids else "".join(ids[:1]),
            "stops": held,
            "names": await self.panel.names(visit, [each.subject for each in held]),
            "may_stop": visit.may(_STOP),
            "may_balance": self.panel.may(visit, self.does.balance),
            "method": method.value,
            "kinds": _KINDS,
            "account_types": [each.value for each in AccountType],
            "banks": await self.panel.banks(visit) if method is PayoutMethod.BANK_ACCOUNT else (),
        }
        return Shown(template="money/new_payout.html", data=data)

    async def payers(self, visit: Visit) -> Sequence[KnownAccount]:
        """Return the accounts that can pay: active, at a bank that is not read-only."""
        known = await part(self.does.banks.providers(self.panel.staff(visit)))
        closed = {each.name for each in known.data or () if each.read_only}
        return [
            each
            for each in await self.panel.accounts(visit)
            if each.active and each.verified and each.provider and each.provider not in closed
        ]

    async def balance(self, visit: Visit) -> Result:
        """Show an account's balance, and whether an amount exceeds it."""
        account = await self.panel.account(visit, visit.query("account_id"))
        found = await part(self.does.balance(self.panel.staff(visit), account), _BALANCE_FAILS)
        try:
            value = typed_money(visit.query("value"), "value").centavos
        except ServiceError:  # it is not typed yet
            value = 0
        waiting = (await part(self.does.waiting(self.panel.staff(visit), account))).data
        wait = waiting or WaitingMoney()
        free = None
        if found.data is not None:
            blocked = found.data.blocked
            free = found.data.balance.centavos - (blocked.centavos if blocked else 0)
        last = None
        if found.problem:
            known = self.does.readings.last(self.panel.staff(visit), account)
            last = (await part(known)).data
        data = {
            "account": account,
            "balance": found,
            "last": last,
            "lacks": free is not None and value > free,
            "waiting": wait,
            "lacks_all": free is not None and value + wait.value.centavos > free,
        }
        template, swapped = "money/order_balance.html", "money/_order_balance.html"
        return Shown(template=template, part=swapped, data=data)

    async def act(self, visit: Visit) -> Result:
        """Validate a payout and show its summary, then order it."""
        form, who = visit.form, self.panel.staff(visit)
        if form["step"] == _CORRECT:
            return await self.form(visit)
        reference, day = form["reference"], who.acting.now().date()
        if form["step"] == _SEND:
            to = await self._to(visit)
            made = await self.order(visit, to.method, _ordered(visit, to, reference, day))
            return go_on(made, address(_PATH, account_id=form["account_id"], reference=reference))
        reference = reference or self.new_reference()
        to = await self._to(visit)
        wanted = _ordered(visit, to, reference, day)
        await self._refuse_stopped(visit)
        if to.method is PayoutMethod.BANK_ACCOUNT:
            typed(_TO_ACCOUNT, wanted)
            return await self.summary(visit, _owner(visit), reference)
        typed(KEY_PAYOUT, wanted)
        asked = {"key": to.destination["key"], "type": to.destination["key_type"]}
        account, key = await self._account(visit), typed(LOOKUP, asked)
        try:
            found = await self.does.keys.look_up(who, account, key)
        except ProviderError as problem:
            raise refusal_of(problem, _OWNER_FAILS) from problem
        owner = {
            "name": found.name,
            "tax_number": hidden_tax_number(found.tax_number),
            "bank": found.bank,
        }
        return await self.summary(visit, owner, reference)

    async def recipients(self, visit: Visit) -> Result:
        """List whom an account paid before; to choose one fills in the form."""
        accounts = await self.payers(visit)
        ids, wanted = [each.id for each in accounts], visit.query("account_id")
        chosen, found = wanted if wanted in ids else "".join(ids[:1]), None
        if chosen:
            account, service = await self.panel.account(visit, chosen), self.does.recipients
            asked = {"text": visit.query("text"), "page": visit.query("page")}

            async def listed(who: Staff, wanted: RecipientSearch) -> Listed[RecipientDocument]:
                return await service.page(who, account, wanted)

            found = await self.panel.find(visit, listed, RECIPIENTS, asked)
        data = {
            "accounts": accounts,
            "chosen": chosen,
            "found": found,
            "days": REMEMBERED.days,
            "looked_at": LOOKED_AT,
        }
        return Shown(template="money/recipients.html", data=data)

    async def order(
        self, visit: Visit, method: PayoutMethod, wanted: Mapping[str, object]
    ) -> Payout | Approval:
        """Order the payout; a reference sent twice is one payout."""
        who, account = self.panel.staff(visit), await self._account(visit)
        if method is PayoutMethod.BANK_ACCOUNT:
            return await self.does.acts.order(who, account, typed(_TO_ACCOUNT, wanted))
        return await self.does.acts.order_by_key(who, account, typed(KEY_PAYOUT, wanted))

    async def _refuse_stopped(self, visit: Visit) -> None:
        """Refuse while payouts are stopped, before any other check."""
        account = await self._account(visit)
        concerns = account.company_id, account.id, account.provider
        if any(each.concerns(*concerns) for each in await self.panel.stops(visit)):
            raise ServiceError(errors.PAYOUTS_STOPPED, "stopped")

    async def _to(self, visit: Visit) -> _To:
        """
        Return where the payout goes.

        Raises:
            ServiceError: ``NOT_FOUND``: a chosen recipient cannot be paid again.
        """
        if not visit.form["again"]:
            return _To.typed(visit)
        who, account = self.panel.staff(visit), await self._account(visit)
        return _To.again(await self.does.recipients.choose(who, account, visit.form["again"]))

    async def _again(self, visit: Visit) -> Part[ChosenRecipient] | None:
        """Return the recipient that was chosen for the form; None where none was."""
        reference = visit.form["again"] or visit.query("again")
        wanted = visit.form["account_id"] or visit.query("account_id")
        if not reference or not wanted:
            return None

        async def chosen() -> ChosenRecipient:
            account = await self.panel.account(visit, uuid(wanted, "account_id"))
            return await self.does.recipients.choose(self.panel.staff(visit), account, reference)

        return await part(chosen())

    async def _account(self, visit: Visit) -> Account:
        return await self.panel.account(visit, uuid(visit.form["account_id"], "account_id"))


def pages(services: OrderServices, context: PageContext) -> Sequence[Page]:
    """Return the page, its form, and the balance that both show."""
    panel = Pages("/payouts/new", context)
    does, order = OrderPages(panel, services), services.acts.order
    form = panel.view("", "payout_new", order)(does.form)
    panel.form(
        "", "payout_order", order, shows=form, fails=PAYOUT_FAILS, priority=Priority.PAYOUTS
    )(does.act)
    panel.view("/balance", "payout_new_balance", services.balance)(does.balance)
    panel.view("/recipients", "payout_recipients", order)(does.recipients)
    return panel.pages


def _changed(to: _To, owner: Mapping[str, str]) -> Sequence[RecipientChange]:
    """Return what changed since a chosen recipient was paid, beside the owner of the key now."""
    if to.chosen is None or to.method is not PayoutMethod.PIX:
        return to.chosen.recipient.changed if to.chosen else ()
    return to.chosen.since(NamedOwner(**owner))


def _ordered(visit: Visit, to: _To, reference: str, day: date) -> Mapping[str, object]:
    """Return the order in the fields of the contract."""
    form = visit.form
    why = {name: form[name] for name in _REASONS[to.method] if form[name]}
    return {
        "reference": reference,
        "value": _value(form),
        "date": day.isoformat(),
        "destination": to.destination,
        "description": form["description"],
        **why,
    }


def _value(form: Form) -> Money:
    """Read the amount; ServiceError ``SVC.VAL.011`` for an implausible one."""
    value = typed_money(form["value"], "value")
    if value > _MOST:
        raise ServiceError(errors.PAYLOAD_INVALID, "above_most", field="value")
    return value


def _method(visit: Visit) -> PayoutMethod:
    """Return the payment method of the form, or of the address of an empty form."""
    said = visit.form["method"] or visit.query("to")
    return PayoutMethod(said) if said in set(PayoutMethod) else PayoutMethod.PIX


def _number(form: Form) -> str:
    """Return the recipient's tax number; a key that is a tax number need not be typed twice."""
    return form["tax_number"] or (form["key"] if form["key_type"] in _NUMBERS else "")


def _key(form: Form) -> str:
    """Return the key as ordered: a telephone in its full form."""
    return typed_key(form["key"], form["key_type"])


def _owner(visit: Visit) -> Mapping[str, str]:
    """Return the owner as shown in the summary."""
    return {name: visit.form[f"owner_{name}"] for name in ("name", "tax_number", "bank")}
