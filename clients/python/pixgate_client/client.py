"""The client for programs without an event loop."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn, Self

import httpx

from pixgate_client import model
from pixgate_client.calls import Calls, FeedPart, Window, cursor_text, placed, type_list
from pixgate_client.connection import Connection, Sign, no_answer
from pixgate_client.exchange import Answer, Flow, Reply, Request, T
from pixgate_client.orders import Order
from pixgate_client.retries import Clock


class Client:
    """
    Calls a gateway for one account. May be shared by threads.

    Reads are repeated for ``read_deadline_s`` where that may help. They raise ``Refused`` (by type
    ``NotFound``, ``RateLimited``), or ``Unavailable`` where no usable answer came.
    """

    def __init__(  # noqa: PLR0913 - who calls what, then settings by name
        self,
        base_url: str,
        account_id: str,
        client_id: str,
        client_secret: str,
        *,
        read_deadline_s: float = 30.0,
        allow_http: bool = False,
        sign: Sign | None = None,
        http: httpx.Client | None = None,
        clock: Clock | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Prepare; nothing is sent.

        Args:
            base_url: https, the gateway's host, and perhaps a port and a path.
            account_id: The account's UUID.
            client_id: Of the credential.
            client_secret: Of the credential.
            read_deadline_s: No repetition of a read begins later than this.
            allow_http: Without TLS to another machine than this one.
            sign: Returns the headers that sign a payout, for a credential with public keys.
            http: A client of yours, for certificates and proxies; you close it.
            clock: Time and chance, for tests.
            sleep: Waits, for tests.

        Raises:
            ValueError: the address or the account's id is none.
        """
        self._to = Connection(base_url, client_id, client_secret, allow_http=allow_http, sign=sign)
        self._calls = Calls(account_id, clock or Clock(), read_deadline_s)
        self._http = http or httpx.Client()
        self._closes = http is None
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"Client({self._to.base_url!r}, {self._calls.account_id!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_ended: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._closes:
            self._http.close()

    def balance(self) -> model.Balance:
        """Read the balance, live from the bank."""
        return self._run(self._calls.balance())

    def pix_keys(self) -> Sequence[model.PixKey]:
        """Read every PIX key of the account."""
        return self._run(self._calls.pix_keys())

    def pix_key(self, key_id: str) -> model.PixKey:
        """Read one PIX key by its UUID."""
        return self._run(self._calls.pix_key(key_id))

    def charge(self, reference: str) -> model.Charge:
        """Read a charge; one that has expired unpaid is ``NotFound``."""
        return self._run(self._calls.charge(reference))

    def payment(self, reference: str) -> model.Payment:
        """Read the payment of a charge; ``pending`` is not paid."""
        return self._run(self._calls.payment(reference))

    def statement(
        self, init: dt.date, ends: dt.date, *, page: int = 1, limit: int = 100
    ) -> model.Statement:
        """Read a page of the statement of these UTC days, both included, at most 90."""
        return self._run(self._calls.statement(Window(init, ends, page, limit)))

    def payouts(
        self, init: dt.date, ends: dt.date, *, page: int = 1, limit: int = 100
    ) -> model.PayoutList:
        """Read a page of the payouts of these UTC days, both included, at most 90."""
        return self._run(self._calls.payouts(Window(init, ends, page, limit)))

    def payout(self, reference: str) -> model.Payout:
        """Read a payout; ``NotFound`` if nothing was stored under the reference."""
        return self._run(self._calls.payout(reference))

    def cancel(self, reference: str) -> NoReturn:
        """Raise ``Refused``, always: a payout cannot be cancelled."""
        self._run(self._calls.cancel(reference))

    def pay(self, order: Order, *, first: bool = False, deadline_s: float = 120.0) -> model.Payout:
        """
        Make a payout. Call it again with the same order as often as you like: it is paid once.

        The same bytes are sent until an outcome is known; no attempt begins after ``deadline_s``,
        and the last one may take 40 seconds more.

        Args:
            order: Store it, with its reference, before.
            first: You know that no earlier call used this reference, in whatever process. Then
                a connection that could not be opened proves that nothing was sent.
            deadline_s: Seconds.

        Returns:
            The payout: ``processing`` is accepted and not settled (``wait_for``), ``failed`` is
            final.

        Raises:
            NotSent: nothing was sent under this reference, and nothing will be.
            Unknown: pay again with the same order, never with another reference.
            Refused: by code; this call sent nothing.
            RateLimited: too many calls; this one sent nothing.
        """
        return self._run(self._calls.pay(order, first=first, deadline_s=deadline_s))

    def wait_for(self, payout: model.Payout | str, *, deadline_s: float = 120.0) -> model.Payout:
        """
        Read a payout, or the one of a reference, until it is ``paid`` or ``failed``.

        Raises:
            Unknown: it was not final in time.
        """
        return self._run(self._calls.settle(payout, deadline_s))

    def events(
        self, after: str | None = "", *, types: str | Iterable[str] = (), wait_s: int = 25
    ) -> Feed:
        """
        Read the feed of events behind a cursor, or from its beginning.

        Iterating waits for new events; with ``wait_s=0`` it ends when there are no more.

        Args:
            after: The cursor that was stored; None or empty begins with the oldest event.
            types: Such as ``payout.paid``, or several; all unless given.
            wait_s: Seconds that a call waits for an event.

        Raises:
            TypeError: the cursor is no text.
            CursorInvalid, CursorExpired: while iterating.
        """
        begin, wanted = cursor_text(after), type_list(types)
        return Feed(lambda at: self._run(self._calls.events(at, wanted, wait_s)), begin, wait_s)

    def _run(self, flow: Flow[T]) -> T:
        try:
            request = next(flow)
            while True:
                request = flow.send(self._send(request))
        except StopIteration as done:
            result: T = done.value
            return result

    def _send(self, wanted: Request) -> Reply:
        if wanted.delay_s:
            self._sleep(wanted.delay_s)
        request = self._to.request(wanted)
        try:
            got = self._http.send(request, auth=None, follow_redirects=False)
        except httpx.RequestError as problem:
            return no_answer(problem)
        return Answer(got.status_code, got.headers, got.content)


class Feed:
    """
    Events in their order.

    Attributes:
        cursor: Behind everything that was asked for; it moves on without events too.
    """

    def __init__(self, read: Callable[[str], FeedPart], after: str, wait_s: int) -> None:
        """Begin behind a cursor."""
        self.cursor = after
        self._read = read
        self._waits = wait_s > 0

    def __iter__(self) -> Iterator[model.Event]:
        while True:
            part = self._read(self.cursor)
            yield from placed(part, self.cursor)
            self.cursor = part.next
            if not part.data and not self._waits:
                return
