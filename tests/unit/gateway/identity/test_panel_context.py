"""What is sealed for a cookie."""


def test_tokens_are_sealed_for_one_cookie(panel_world):
    mine, other = panel_world.context.cookies.make(), panel_world.context.cookies.make()

    sealed = panel_world.context.seal_tokens({"access": "a"}, mine)

    assert panel_world.context.open_tokens(sealed, mine) == {"access": "a"}
    assert panel_world.context.open_tokens(sealed, other) is None


def test_the_lease_outlives_the_call_it_is_for(panel_world):
    """Else two processes would refresh the same token."""
    settings = panel_world.context.settings

    assert settings.lease > settings.wait_timeout > settings.refresh_timeout
    assert settings.refresh_ahead > settings.overlap
