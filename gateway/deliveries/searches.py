"""Search parameters of deliveries."""

from __future__ import annotations

from typing import Final

from gateway.core.calls import Input
from gateway.deliveries.model import DeliverySearch, DeliveryState
from policies.validation.backoffice import inputs


def _deliveries(given: inputs.Filters) -> DeliverySearch:
    return DeliverySearch(
        paging=given.paging(),
        endpoint_id=given.uuid("endpoint_id"),
        company_id=given.uuid("company_id"),
        account_id=given.uuid("account_id"),
        event_id=given.text("event_id"),
        type=given.text("type"),
        state=given.read("state", DeliveryState),
        since=given.instant("since"),
        until=given.instant("until"),
    )


DELIVERIES: Final[Input[DeliverySearch]] = inputs.filters(
    _deliveries,
    inputs.uuid_filter("endpoint_id", "To this endpoint alone."),
    inputs.uuid_filter("company_id", "Of this company alone."),
    inputs.uuid_filter("account_id", "Of this account alone."),
    inputs.text_filter("event_id", "Of this event alone."),
    inputs.text_filter("type", "Of this type of event, or `endpoint.ping`."),
    inputs.word_filter("state", DeliveryState),
    inputs.instant_filter("since", "Of events then or later."),
    inputs.instant_filter("until", "Of events before."),
    *inputs.PAGING,
)
