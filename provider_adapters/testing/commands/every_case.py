"""What ``pixgate adapter verify`` lets pytest run: each case of the suite, by the plugin."""

from provider_adapters.testing.pytest_plugin import AdapterCase


def test_adapter(adapter_case: AdapterCase) -> None:
    """The adapter passes the case."""
    adapter_case.run()
