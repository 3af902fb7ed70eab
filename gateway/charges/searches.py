"""Search parameters of charges."""

from __future__ import annotations

from typing import Final

from gateway.charges.model import ChargeSearch, ChargeState
from gateway.core.calls import Input
from policies.validation.backoffice import inputs


def _charges(given: inputs.Filters) -> ChargeSearch:
    return ChargeSearch(
        page=given.keyset(),
        since=given.instant("since"),
        until=given.instant("until"),
        account_id=given.uuid("account_id"),
        reference=given.text("reference"),
        state=given.read("status", ChargeState),
        text=given.text("text"),
    )


CHARGES: Final[Input[ChargeSearch]] = inputs.filters(
    _charges,
    inputs.uuid_filter("account_id", "Of this account alone."),
    inputs.text_filter("reference", "The whole reference."),
    inputs.text_filter(
        "text",
        "An amount, asked for or paid; or a part of a reference or of a payer's name, of the "
        "newest 20,000.",
    ),
    inputs.word_filter("status", ChargeState),
    inputs.instant_filter("since", "Ordered then or later."),
    inputs.instant_filter("until", "Ordered before."),
    *inputs.KEYSET,
)
