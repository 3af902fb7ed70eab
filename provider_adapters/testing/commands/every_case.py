"""The file that ``pixgate adapter verify`` runs with pytest: each case of the suite."""

from provider_adapters.testing.pytest_plugin import AdapterCase


def test_adapter(adapter_case: AdapterCase) -> None:
    """The adapter passes the case."""
    adapter_case.run()
