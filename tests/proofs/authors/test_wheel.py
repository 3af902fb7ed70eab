"""The wheel, installed without a checkout."""

import json

from gateway.config.build import commit_at
from tests.world.authors import Environment
from tests.world.tree import ROOT


def test_a_wheel_names_the_commit_that_it_was_built_from(environment: Environment):
    shown = json.loads(environment.runs("pixgate", "version", "--json"))

    assert shown["commit"] == commit_at(ROOT)
