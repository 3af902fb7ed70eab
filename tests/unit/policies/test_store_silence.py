"""A store that does not answer."""

from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from policies.store_silence import asking_the_store
from tests.unit.refusals import refused


def test_an_unavailable_store_is_reported_with_retry_after():
    with refused(errors.AUTH_UNAVAILABLE) as refusal, asking_the_store():
        raise StoreUnavailable

    assert (refusal.value.reason, refusal.value.headers["Retry-After"]) == ("unavailable", "2")
