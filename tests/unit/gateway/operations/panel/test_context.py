"""What is sealed for a cookie."""


def test_tokens_are_sealed_for_one_cookie(hall):
    mine, other = hall.context.cookies.make(), hall.context.cookies.make()

    sealed = hall.context.seal_tokens({"access": "a"}, mine)

    assert hall.context.open_tokens(sealed, mine) == {"access": "a"}
    assert hall.context.open_tokens(sealed, other) is None


def test_the_lease_outlives_the_call_it_is_for(hall):
    """Else two processes would refresh the same token."""
    settings = hall.context.settings

    assert settings.lease > settings.wait_timeout > settings.refresh_timeout
    assert settings.refresh_ahead > settings.overlap
