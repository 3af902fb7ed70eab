"""Names of components: ours to promise, each one shape."""

import pytest

from gateway.http.openapi.schemas import public_name, public_names


@pytest.mark.parametrize(
    ("component", "public"),
    [
        ("PayoutDocument", "Payout"),
        ("PayoutBody", "PayoutRequest"),
        ("PayoutList", "PayoutList"),
        ("gateway.http.introduction.ErrorCodeDocument", "ErrorCode"),
        ("Meter", "PageMeta"),
        ("Role", "RoleName"),
        ("Document", "Document"),
    ],
)
def test_a_name_says_what_it_is_and_not_where(component: str, public: str):
    assert public_name(component) == public


def test_two_shapes_of_one_name_are_a_mistake():
    with pytest.raises(ValueError, match=r"one\.CodeDocument and two\.CodeDocument .* named Code"):
        public_names(["one.CodeDocument", "two.CodeDocument"])
