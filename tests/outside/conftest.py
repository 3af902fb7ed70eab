"""
A package of somebody else's, kept as it was written for PORT 1.

It is changed only where the port's promise allows that it must be (docs/providers/stability.md):
what it cannot do without a change, no author's package can. It is installed and run by
tests/proofs/authors, in an environment of its own; its tests are not collected here.
"""

collect_ignore_glob = ["*"]
