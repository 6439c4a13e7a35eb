"""`python -m bench.extraction`: the main text of web pages, beside readability-lxml, trafilatura and resiliparse.

Two corpora. Mozilla's: the test pages of its Readability, each with the text that its own algorithm finds; they are read from a
checkout of mozilla/readability at build/readability, or from the folder that READABILITY_PAGES names (`test/test-pages` of a
checkout), and none of them is in this repository. Generated: 200 pages of eight kinds (tests/pages/corpus), always the same,
with the truth beside them. F1 is of words, each as often as it is there, the mean over the pages; ours is measured on what a
model is given, with its marks, without the addresses of links. Peers are given text: none of them has to find a charset.

Large pages are read in a process each, started for them; the memory is all of that process, the 10 MB of the page included.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench import Row


def rows() -> Iterator[Row]:
    """Measure each bar."""
    from bench.extraction.measuring import measure  # not in the environments of the peers

    return measure()
