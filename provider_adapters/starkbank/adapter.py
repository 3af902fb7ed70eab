"""Stark Bank behind the provider port."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import KeyOwner, PixKey
from gateway.banks.port.provider_callbacks import (
    CallbackOrder,
    CallbackSecrets,
    MissedEvent,
    RegisteredCallback,
)
from gateway.banks.port.providers import (
    NotFound,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Rejected,
    Unknown,
)
from gateway.banks.port.statements import Balance, Entry
from gateway.core.clocks import Deadline, Monotonic
from gateway.core.windows import Window
from provider_adapters.kit.adapter import key_of
from provider_adapters.kit.outcomes import Expected, NeverSendable, unsent
from provider_adapters.kit.paging import within
from provider_adapters.kit.public_keys import FetchedKeys, GivenKeys
from provider_adapters.kit.requests import sending
from provider_adapters.starkbank import callbacks, mapping, payouts, requests
from provider_adapters.starkbank.callbacks import StarkBankProof
from provider_adapters.starkbank.mapping import OUR_TAG
from provider_adapters.starkbank.receivables import Receivables

Item = TypeVar("Item")

_MOST_PAGES: Final = 20
"""Of a list that is read whole: 2,000 keys, addresses or missed events. The next look goes on."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StarkBankAdapter(Receivables):
    """
    Stark Bank as one configured provider.

    Each call builds a request, signs it for the account, sends it and translates
    the answer.

    Attributes:
        public_keys: Those that callbacks are signed with; empty to read them from the bank.
    """

    clock: Monotonic
    public_keys: Sequence[str] = ()

    def callback_proof(self, _secrets: CallbackSecrets) -> StarkBankProof:
        """Make the check of callbacks; raises ``ProofRefused`` for a PEM that is no key."""
        if self.public_keys:
            return StarkBankProof(GivenKeys(self.public_keys))
        fetched = FetchedKeys(self.client, requests.PUBLIC_KEYS, mapping.public_keys, self.clock)
        return StarkBankProof(fetched)

    async def probe(self) -> None:
        """Reach the bank; ``GET /v2/public-key``. Any answer in its own shape is enough."""
        await self.client.read(requests.PROBE, mapping.reached)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live; ``GET /v2/balance``."""
        request = requests.unsigned("get_balance", "/v2/balance")
        return await self.read(account, request, mapping.balance)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements; ``GET /v2/transaction``."""
        query = requests.page(window, cursor, limit)
        page = await self.read(
            account,
            requests.unsigned("list_statement", "/v2/transaction", query),
            lambda answer: mapping.statement(answer, cursor),
        )
        return within(page, window, lambda entry: entry.created_at)

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every key, cancelled ones too; ``GET /v2/dict-key``."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among all: the bank's ids are the keys themselves."""
        return key_of(await self._keys(account, "get_key"), account, key_id)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a payout; ``POST /v2/transfer``, for a key after ``GET /v2/dict-key/{key}``.

        The provider key is external id and tag. A 400 may mean that the bank knows
        the key: then the payout is looked for by the tag.

        Returns:
            Accepted or Settled as the bank answered. Rejected for a listed refusal where no
            transfer has our tag, for an unknown key or another owner's, and for a
            unknown bank. NotSent when the transfer was not sent, or the signature
            refused. Unknown for all else: look the payout up, do not send it again.
        """
        try:
            place, compared = await self._place(account, order, send_by)
            request = self.signed(account, requests.create_payout(order, place))
        except ProviderError as failure:
            return unsent(failure)
        expected = Expected(order.provider_key, order.value, compared)
        outcome = await self.client.pay(
            request, lambda answer: payouts.created(answer, expected), send_by
        )
        return await self._looked_into(account, outcome, expected)

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, _provider_id: str
    ) -> Outcome:
        """
        Look a payout up by the tag that holds our key; ``GET /v2/transfer``.

        Raises:
            NotFound: No transfer has the tag. Nothing says when that proves anything.
        """
        return await self._found(account, Expected(provider_key))

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Read the owner of a key; ``GET /v2/dict-key/{key}``."""
        request = requests.look_up_key(key)
        return await self.read(account, request, lambda answer: mapping.owner(answer, key))

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """Have callbacks sent to an address, sent once; ``POST /v2/webhook``."""
        return await self.change(account, requests.register_callback(order), callbacks.registered)

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address; ``GET /v2/webhook``."""

        async def page(cursor: str | None) -> Page[RegisteredCallback]:
            return await self.read(
                account,
                requests.unsigned("list_callbacks", "/v2/webhook", requests.after(cursor)),
                lambda answer: callbacks.registrations(answer, cursor),
            )

        return await _all(page)

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Remove an address; ``DELETE /v2/webhook/{id}``, safe to repeat."""
        request = requests.unsigned("remove_callback", "/v2/webhook/{id}", id=callback_id)
        await self.read(account, sending(request, method="DELETE"), callbacks.removed)

    async def list_missed_events(
        self, account: ProviderAccount, limit: int
    ) -> Sequence[MissedEvent]:
        """Read callbacks that could not be delivered; ``GET /v2/event``, put in order here."""

        async def page(cursor: str | None) -> Page[tuple[datetime, MissedEvent]]:
            query = {"isDelivered": "false", **requests.after(cursor)}
            return await self.read(
                account,
                requests.unsigned("list_missed_events", "/v2/event", query),
                lambda answer: callbacks.missed_events(answer, cursor),
            )

        oldest_first = sorted(await _all(page), key=lambda dated: dated[0])
        return [event for _, event in oldest_first[:limit]]

    async def acknowledge_events(self, account: ProviderAccount, event_ids: Sequence[str]) -> None:
        """Acknowledge missed events, one by one; ``PATCH /v2/event/{id}``, safe to repeat."""
        for event_id in event_ids:
            try:
                request = requests.unsigned("acknowledge_events", "/v2/event/{id}", id=event_id)
                change = sending(request, {"isDelivered": True}, "PATCH")
                await self.read(account, change, callbacks.acknowledged)
            except NotFound:  # shown no more, which is what was wanted
                continue

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        async def page(cursor: str | None) -> Page[PixKey]:
            return await self.read(
                account,
                requests.unsigned(operation, "/v2/dict-key", requests.after(cursor)),
                lambda answer: mapping.keys(answer, cursor),
            )

        return await _all(page)

    async def _place(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the destination, and the part of it that can be compared with an answer."""
        to = order.destination
        if not isinstance(to, PixDestination):
            place = requests.place_of_account(to)
            return place, place
        by = min(self.client.read_by(), send_by, key=lambda each: each.left())
        request = requests.look_up_key(to.key)
        try:
            entry = await self.read(account, request, mapping.directory_entry, by)
        except NotFound as problem:
            raise NeverSendable(FailureCode.KEY_NOT_FOUND) from problem
        place = requests.place_of_key(to, entry)
        shown = {name: text for name, text in place.items() if name not in requests.ENCRYPTED}
        return place, shown

    async def _looked_into(
        self, account: ProviderAccount, outcome: Outcome, expected: Expected
    ) -> Outcome:
        """Look for our tag after a 400; a refusal holds only where no transfer has it."""
        if not payouts.may_be_known(outcome):
            return outcome
        try:
            return await self._found(account, expected)
        except NotFound:
            return outcome
        except ProviderError:
            return Unknown(outcome.evidence) if isinstance(outcome, Rejected) else outcome

    async def _found(self, account: ProviderAccount, expected: Expected) -> Outcome:
        """Look a payout up by its tag."""
        return await self.read(
            account,
            requests.tagged("find_payout", "transfer", OUR_TAG + expected.provider_key),
            lambda answer: payouts.found(answer, expected),
        )


async def _all(page: Callable[[str | None], Awaitable[Page[Item]]]) -> Sequence[Item]:
    """Read a list whole, within bounds."""
    found: list[Item] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        read = await page(cursor)
        found += read.items
        if (cursor := read.next_cursor) is None:
            break
    return found
