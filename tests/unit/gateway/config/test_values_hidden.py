"""Texts that hide themselves."""

from gateway.config.values import Address, Secret, without_credentials

CANARY = "canary-7f3a"


def test_a_secret_is_not_reported():
    cases = [
        repr,
        str,
        lambda secret: f"{secret}",
        lambda secret: "%s" % secret,  # noqa: UP031 - as loggers do
        lambda secret: f"{[secret]}",
    ]

    for told in cases:
        text = told(Secret(CANARY))

        assert CANARY not in text


def test_an_address_hides_its_password_and_converts_complete():
    url = f"postgresql://gateway:{CANARY}@db:5432/pixgate"

    address = Address(url)

    assert CANARY not in repr(address)
    assert CANARY not in address.shown
    assert str(address) == url


def test_credentials_of_urls_are_hidden():
    cases = [
        ("postgresql://db/x", "postgresql://db/x"),
        ("postgresql://a:b@db/x", "postgresql://***@db/x"),
        (
            "postgresql://a:b%40c@db/x?password=p&ssl=on",
            "postgresql://***@db/x?password=***&ssl=on",
        ),
        ("postgresql://db/x?sslpassword=p", "postgresql://db/x?sslpassword=***"),
        ("sqlite:///var/pixgate.db", "sqlite:///var/pixgate.db"),
        ("", ""),
    ]

    wrong = [(url, shown) for url, shown in cases if without_credentials(url) != shown]

    assert wrong == []
