"""The command ``pixgate`` as it is without uvloop: on the loop of the standard library."""

import runpy
import sys

sys.modules["uvloop"] = None  # type: ignore[assignment] # importing it fails from here on
runpy.run_module("gateway", run_name="__main__")
