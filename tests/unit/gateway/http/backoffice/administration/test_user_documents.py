"""Documents of people."""

from gateway.domain.identity.rights import Role
from gateway.http.backoffice.administration.user_documents import RoleName


def test_roles_have_the_names_that_are_documented():
    assert set(RoleName.__args__) == set(Role)
