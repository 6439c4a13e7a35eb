"""Web pages: bytes of strangers become text that a model reads. Pure but for `read_excerpt`, which uses a worker process.

Nothing here fetches, resolves a name or knows a key.
"""

from ferryman.pages.page import Kind, PageText, read_page
from ferryman.pages.reading import EXCERPT_CHARACTERS_MAX, Excerpt, cut_excerpt, read_excerpt, read_excerpt_here, write_page

__all__ = [
    "EXCERPT_CHARACTERS_MAX",
    "Excerpt",
    "Kind",
    "PageText",
    "cut_excerpt",
    "read_excerpt",
    "read_excerpt_here",
    "read_page",
    "write_page",
]
