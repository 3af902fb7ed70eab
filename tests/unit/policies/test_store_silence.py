"""A store that does not answer."""

from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from policies.store_silence import asking_the_store
from tests.unit.refusals import refused


def test_a_store_that_does_not_answer_is_worth_another_try():
    with refused(errors.AUTH_UNAVAILABLE) as refusal, asking_the_store():
        raise StoreUnavailable

    assert (refusal.value.reason, refusal.value.headers["Retry-After"]) == ("unavailable", "2")
