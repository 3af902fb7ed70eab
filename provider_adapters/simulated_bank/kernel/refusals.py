"""Names of ``PORT = 1``, see ``docs/providers/stability.md``; ``PORT = 2`` ends this module."""

from provider_adapters.testing.bank.kernel.refusals import *
