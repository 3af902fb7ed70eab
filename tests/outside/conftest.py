"""
A third party's package, kept as it was written for PORT 1.

It is changed only where the port's promise allows it (docs/providers/stability.md): a change that
it requires, every author's package requires. It is installed and run by tests/proofs/authors, in an
environment of its own; its tests are not collected here.
"""

collect_ignore_glob = ["*"]
