"""A search engine over a few pages of the simulated internet, which answers as SearXNG does, and the sites of these pages."""

from emulator.internet.search.engine import MetaSearch
from emulator.internet.search.pages import PAGES, FixturePage
from emulator.internet.search.sites import build_sites

__all__ = ["PAGES", "FixturePage", "MetaSearch", "build_sites"]
