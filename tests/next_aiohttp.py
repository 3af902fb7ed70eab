"""
A pytest plugin for ``make next-aiohttp``: the installed aiohttp counts as a proven one.

The check at the start would refuse it before a test could show what it has moved.
"""

import aiohttp

from gateway.net.common import parser

parser.AIOHTTP = aiohttp.__version__
