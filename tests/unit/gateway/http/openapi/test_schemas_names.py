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
def test_a_public_schema_name_has_no_module_or_suffix(component: str, public: str):
    assert public_name(component) == public


def test_two_schemas_with_one_public_name_are_refused():
    with pytest.raises(ValueError, match=r"one\.CodeDocument and two\.CodeDocument .* named Code"):
        public_names(["one.CodeDocument", "two.CodeDocument"])
