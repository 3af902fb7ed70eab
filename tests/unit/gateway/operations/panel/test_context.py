"""What is sealed for a cookie."""


def test_tokens_are_sealed_for_one_cookie(hall):
    mine, other = hall.parts.craft.make(), hall.parts.craft.make()

    sealed = hall.parts.sealed({"access": "a"}, mine)

    assert hall.parts.opened(sealed, mine) == {"access": "a"}
    assert hall.parts.opened(sealed, other) is None


def test_the_lease_outlives_the_call_it_is_for(hall):
    """Else two processes would refresh the same token."""
    rules = hall.parts.rules

    assert rules.lease > rules.patience > rules.call
    assert rules.ahead > rules.overlap
