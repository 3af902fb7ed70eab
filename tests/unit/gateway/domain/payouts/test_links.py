"""The port that ties movements to payouts is one that the store keeps."""

from gateway.domain.payouts.links import PayoutLinks
from gateway.store.backoffice.payout_links import StoredPayoutLinks
from tests.unit.gateway.statements.linked_statements import Payouts


def test_what_answers_for_the_store_has_its_calls():
    for kind in (StoredPayoutLinks, Payouts):
        assert callable(getattr(kind, PayoutLinks.behind.__name__))
