"""How people stand."""

from gateway.http.backoffice.administration.user_standing import Standing, standings
from gateway.operations.identity.throttling import Lockout
from tests.contract.stores.people import user
from tests.contract.stores.samples import NOW


def test_people_are_put_together_with_what_is_known_of_them():
    """Of most people nothing is."""
    one, other = user("1"), user("2")
    lockout = Lockout(None)

    found = standings([one, other], {"2": NOW}, {"1": lockout, "3": lockout})

    assert found == [Standing(one, None, lockout), Standing(other, NOW, None)]
