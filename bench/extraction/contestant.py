"""`python -m bench.extraction.contestant NAME`: the text of pages by one library; a line of JSON asks, a line answers.

Run in the environment of the library. A question is {"path", "content_type", "url"}, an answer {"text", "cpu_s", "peak_mb"}:
the seconds of processor time of this page alone, and the most memory of this process since it was started.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def read_ours(content: bytes, content_type: str, url: str) -> str:
    from ferryman.pages import read_page

    return read_page(content, content_type, url).text


def read_ours_whole(content: bytes, content_type: str, url: str) -> str:
    """Return what a model is given: with title, author, date and notes."""
    from ferryman.pages import read_excerpt_here

    return read_excerpt_here(content, content_type, url).text


def read_readability_lxml(content: bytes, _: str, url: str) -> str:
    import lxml.html
    import readability

    summary = readability.Document(content.decode("utf-8", "replace"), url=url).summary()
    return " ".join(lxml.html.fromstring(summary).itertext()) if summary.strip() else ""


def read_trafilatura(content: bytes, _: str, url: str) -> str:
    import trafilatura

    return trafilatura.extract(content.decode("utf-8", "replace"), url=url, include_comments=False, favor_recall=True) or ""


def read_resiliparse(content: bytes, *_: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    text: str = extract_plain_text(content.decode("utf-8", "replace"), main_content=True, alt_texts=False)
    return text


READERS: dict[str, Callable[[bytes, str, str], str]] = {
    "ours": read_ours,
    "ours-whole": read_ours_whole,
    "readability-lxml": read_readability_lxml,
    "resiliparse": read_resiliparse,
    "trafilatura": read_trafilatura,
}


def answer(read: Callable[[bytes, str, str], str], question: dict[str, Any]) -> dict[str, Any]:
    content = Path(question["path"]).read_bytes()
    start = time.process_time()
    try:
        text = read(content, question["content_type"], question["url"])
    except Exception as error:  # noqa: BLE001 - of a peer: it has no text for this page
        text = ""
        print(f"{type(error).__name__} for {question['path']}", file=sys.stderr)
    return {"text": text, "cpu_s": time.process_time() - start, "peak_mb": measure_peak()}


def measure_peak() -> float:
    """Return the most memory of this program in MB. What `getrusage` says includes the process that started it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1_024


def main() -> None:
    read = READERS[sys.argv[1]]
    read(b"<p>word</p>", "text/html", "https://bench.test/")  # so that no import is measured
    for line in sys.stdin:
        print(json.dumps(answer(read, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
