"""The calls of an account: what each sends, and how its answer is read."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NoReturn
from urllib.parse import quote, urlencode

from pixgate_client import model, payouts
from pixgate_client.errors import CursorExpired, CursorInvalid
from pixgate_client.exchange import ANSWER_S, Flow, Request, T
from pixgate_client.orders import Order, check_reference
from pixgate_client.reads import Kinds, fetch
from pixgate_client.retries import Clock, Tries

_CURSOR_ERRORS: Final[Kinds] = {"SVC.VAL.008": CursorExpired, "SVC.VAL.011": CursorInvalid}


@dataclass(frozen=True, slots=True)
class _PixKeys:
    data: tuple[model.PixKey, ...]


@dataclass(frozen=True, slots=True)
class FeedPart:
    """Some events of the feed, and the cursor behind them."""

    data: tuple[model.Event, ...]
    next: str


@dataclass(frozen=True, slots=True)
class Window:
    """One page of the rows of some days, both included."""

    init: dt.date
    ends: dt.date
    page: int
    limit: int

    def on(self, path: str) -> str:
        """Add the window to a path."""
        days = {"init": self.init.isoformat(), "ends": self.ends.isoformat()}
        return f"{path}?{urlencode({**days, 'page': self.page, 'limit': self.limit})}"


class Calls:
    """Each method describes one call; a client carries it out."""

    def __init__(self, account_id: str, clock: Clock, deadline_s: float) -> None:
        """
        Describe the calls of one account, whose reads are repeated for ``deadline_s``.

        Raises:
            ValueError: the account's id is no UUID.
        """
        self.account_id = str(uuid.UUID(account_id))
        self._banking = f"/baas/v1/account/{self.account_id}"
        self._clock = clock
        self._deadline_s = deadline_s
        self._lost: set[str] = set()

    def balance(self) -> Flow[model.Balance]:
        """Read the balance."""
        return self._get("/balance", model.Balance)

    def pix_keys(self) -> Flow[tuple[model.PixKey, ...]]:
        """Read every PIX key."""
        found = yield from self._get("/pix/keys", _PixKeys)
        return found.data

    def pix_key(self, key_id: str) -> Flow[model.PixKey]:
        """Read one PIX key."""
        return self._get(f"/pix/keys/{uuid.UUID(key_id)}", model.PixKey)

    def charge(self, reference: str) -> Flow[model.Charge]:
        """Read a charge."""
        return self._get("/pix/qrcode", model.Charge, reference)

    def payment(self, reference: str) -> Flow[model.Payment]:
        """Read the payment of a charge."""
        return self._get("/pix/transactions", model.Payment, reference)

    def statement(self, window: Window) -> Flow[model.Statement]:
        """Read a page of the statement."""
        return self._get(window.on("/transactions"), model.Statement)

    def payouts(self, window: Window) -> Flow[model.PayoutList]:
        """Read a page of payouts."""
        return self._get(window.on("/withdraws"), model.PayoutList)

    def payout(self, reference: str) -> Flow[model.Payout]:
        """Read a payout."""
        return payouts.look_up(f"{self._banking}/withdraw", reference, self._tries())

    def cancel(self, reference: str) -> Flow[NoReturn]:
        """Ask for what is always refused."""
        check_reference(reference)
        request = Request("DELETE", f"{self._banking}/withdraw/{quote(reference, safe='')}")
        yield from fetch(request, model.Payout, self._tries(), reference=reference)
        raise NotImplementedError

    def pay(self, order: Order, *, first: bool, deadline_s: float) -> Flow[model.Payout]:
        """Pay."""
        path = f"{self._banking}/withdraw"
        return payouts.pay(path, order, self._tries(deadline_s), first=first, lost=self._lost)

    def settle(self, payout: model.Payout | str, deadline_s: float) -> Flow[model.Payout]:
        """Read a payout until it is final."""
        reference = payout if isinstance(payout, str) else payout.reference
        path = f"{self._banking}/withdraw"
        return payouts.settle(path, reference, self._tries(deadline_s))

    def events(self, after: str, types: str, wait_s: int) -> Flow[FeedPart]:
        """Read the events behind a cursor, of the types that ``type_list`` made."""
        query = {"after": after, "types": types, "limit": 100, "wait": wait_s}
        wanted = urlencode({name: value for name, value in query.items() if value != ""})
        path = f"/events/v1/account/{self.account_id}/events?{wanted}"
        request = Request("GET", path, answer_s=wait_s + ANSWER_S)
        tries = self._tries(self._deadline_s + wait_s)
        return fetch(request, FeedPart, tries, kinds=_CURSOR_ERRORS if after else {})

    def _get(self, path: str, kind: type[T], reference: str = "") -> Flow[T]:
        if reference:
            check_reference(reference)
            path = f"{path}/{quote(reference, safe='')}"
        request = Request("GET", self._banking + path)
        return fetch(request, kind, self._tries(), reference=reference)

    def _tries(self, deadline_s: float | None = None) -> Tries:
        return Tries(self._clock, self._deadline_s if deadline_s is None else deadline_s)


def cursor_text(after: object) -> str:
    """
    Return a stored cursor, empty where there is none yet.

    Raises:
        TypeError: for an event, for example; its ``cursor`` is meant.
    """
    if after is None:
        return ""
    if isinstance(after, str):
        return after
    message = "after is a cursor: a text, such as the cursor of an event"
    raise TypeError(message)


def type_list(types: str | Iterable[str]) -> str:
    """Return types as the gateway reads them; one alone may be a text."""
    return types if isinstance(types, str) else ",".join(types)


def placed(part: FeedPart, after: str) -> Iterator[model.Event]:
    """Give each event the cursor to store once it was dealt with: the last one that behind all."""
    for event in part.data[:-1]:
        yield replace(event, cursor=after)
    for event in part.data[-1:]:
        yield replace(event, cursor=part.next)
