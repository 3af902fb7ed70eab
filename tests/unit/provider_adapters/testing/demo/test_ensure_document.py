"""The demo as it is printed."""

from provider_adapters.testing.demo.ensure import Demo, DemoUrls

SHAPE = {
    "base_url",
    "ops_url",
    "sandbox_bank_url",
    "sandbox_control_url",
    "companies",
    "accounts",
    "credentials",
    "pix_keys",
    "charges",
    "users",
}


def test_the_printed_demo_has_its_shape():
    """What others read by name; a part may be added, none may go."""
    assert Demo.__required_keys__ >= SHAPE


def test_addresses_are_part_of_it():
    assert DemoUrls.__required_keys__ <= Demo.__required_keys__
