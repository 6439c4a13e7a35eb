"""The rows of the bench: main text, hidden text, large pages, and what is made to take long."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from bench import Row
from bench.extraction.contestants import PEERS, Outcome, read_all, read_alone
from bench.extraction.corpora import MOZILLA, StoredPage, read_generated, read_hidden, read_large, read_mozilla, read_pdfs
from bench.extraction.limits import FLOOR_S, measure_alone
from tests.linear import FACTOR_MAX
from tests.pages.hostile import SHAPES
from tests.pages.scores import score, strip_targets
from tests.pages.test_hidden import SECRET

UNCLOSED, PEER_COUNT = "unclosed formatting before paragraphs", 10_000
F1_MIN, CPU_MAX_S, PEAK_MAX_MB = 0.9, 1.5, 150.0


def measure() -> Iterator[Row]:
    """Measure each bar."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        yield _measure_mozilla()
        yield _measure_generated(folder)
        yield _measure_hidden(folder)
        yield from _measure_large(folder)
        growth = _measure_growth(_measure_peers(folder))
        yield from _measure_pdfs(folder)
    yield growth


def _rate(outcomes: list[Outcome], pages: list[StoredPage]) -> float:
    return mean(score(strip_targets(outcome.text), page.truth).f1 for outcome, page in zip(outcomes, pages, strict=True))


def _measure_mozilla() -> Row:
    pages = read_mozilla()
    what = f"F1 of the main text, Mozilla's {len(pages) or ''} test pages".replace("  ", " ")
    if not pages:
        return Row(what, f"{F1_MIN}", f"no pages at {MOZILLA.name}", reached=False, note="READABILITY_PAGES names their folder")
    ours = read_all("ours", pages)
    times = f"{1_000 * mean(outcome.cpu_s for outcome in ours):.0f} ms each"
    others = []
    for peer in PEERS:
        theirs = read_all(peer, pages)
        others.append(f"{peer} {_rate(theirs, pages):.3f}, {1_000 * mean(outcome.cpu_s for outcome in theirs):.0f} ms")
    rate = _rate(ours, pages)
    return Row(what, f"{F1_MIN}", f"{rate:.3f}", reached=rate >= F1_MIN, note=f"{times}; {'; '.join(others)}")


def _measure_generated(folder: Path) -> Row:
    pages = read_generated(folder, as_text=False)
    rate = _rate(read_all("ours", pages), pages)
    texts = read_generated(folder, as_text=True)
    note = "; ".join(f"{peer} {_rate(read_all(peer, texts), texts):.3f}" for peer in PEERS)
    return Row(
        f"F1 of the main text, {len(pages)} generated pages", f"{F1_MIN}", f"{rate:.3f}", reached=rate >= F1_MIN, note=note
    )


def _measure_hidden(folder: Path) -> Row:
    pages = list(read_hidden(folder))
    visible = {name: sum(SECRET in outcome.text for outcome in read_all(name, pages)) for name in ("ours-whole", *PEERS)}
    note = "; ".join(f"{peer} shows {visible[peer]}" for peer in PEERS)
    out = len(pages) - visible["ours-whole"]
    return Row(
        "ways to hide text on a page that stay out", "all", f"{out} of {len(pages)}", reached=out == len(pages), note=note
    )


def _measure_large(folder: Path) -> Iterator[Row]:
    pages = list(read_large(folder))
    outcomes = {page.name: read_alone("ours-whole", page) for page in pages}
    slowest = max(outcomes, key=lambda name: outcomes[name].cpu_s)
    largest = max(outcomes, key=lambda name: outcomes[name].peak_mb)
    article = pages[0]
    theirs = {peer: read_alone(peer, article) for peer in PEERS}
    ours = outcomes[article.name]
    times = f"an article: {ours.cpu_s:.2f} s; " + "; ".join(f"{peer} {theirs[peer].cpu_s:.2f} s" for peer in PEERS)
    memory = f"an article: {ours.peak_mb:.0f} MB; " + "; ".join(f"{peer} {theirs[peer].peak_mb:.0f} MB" for peer in PEERS)
    cpu_s, peak_mb = outcomes[slowest].cpu_s, outcomes[largest].peak_mb
    yield Row(
        f"a page of 10 MB, the slowest of {len(pages)} kinds, processor time",
        f"{CPU_MAX_S} s",
        f"{cpu_s:.2f} s ({slowest.removeprefix('large ')})",
        reached=cpu_s <= CPU_MAX_S,
        note=times,
    )
    yield Row(
        f"its memory, the largest of {len(pages)} kinds",
        f"{PEAK_MAX_MB:.0f} MB",
        f"{peak_mb:.0f} MB ({largest.removeprefix('large ')})",
        reached=peak_mb <= PEAK_MAX_MB,
        note=memory,
    )


def _measure_peers(folder: Path) -> str:
    """Return what formatting elements that are never closed cost the peers: seconds for some, and for twice as many."""
    pages = []
    for count in (PEER_COUNT, 2 * PEER_COUNT):
        path = folder / f"{count}.html"
        path.write_text(SHAPES[UNCLOSED](count))
        pages.append(StoredPage(UNCLOSED, path, "text/html; charset=utf-8", "https://bench.test/"))
    times = {name: [outcome.cpu_s for outcome in read_all(name, pages)] for name in ("ours", *PEERS)}
    return f"{UNCLOSED}: " + "; ".join(f"{name} {half:.2f} s to {whole:.2f} s" for name, (half, whole) in times.items())


def _measure_growth(peers: str) -> Row:
    worst, where = 0.0, ""
    for name in SHAPES:
        once, twice = measure_alone("growth", name)
        if twice > FLOOR_S and twice / once > worst:
            worst, where = twice / once, f"{name}, {once:.2f} s to {twice:.2f} s"
    return Row(
        f"twice as much of each of {len(SHAPES)} pages that are made to take long: times as long, the worst",
        f"{FACTOR_MAX}",
        f"{worst:.1f}",
        reached=worst <= FACTOR_MAX,
        note=f"{where}; {peers}",
    )


def _measure_pdfs(folder: Path) -> Iterator[Row]:
    outcomes = {page.name: read_alone("ours-whole", page) for page in read_pdfs(folder)}
    slowest = max(outcomes, key=lambda name: outcomes[name].cpu_s)
    largest = max(outcomes, key=lambda name: outcomes[name].peak_mb)
    cpu_s, peak_mb = outcomes[slowest].cpu_s, outcomes[largest].peak_mb
    yield Row(
        f"{len(outcomes)} PDFs, of 10 MB or made to take long, the slowest, processor time",
        f"{CPU_MAX_S} s",
        f"{cpu_s:.2f} s",
        reached=cpu_s <= CPU_MAX_S,
        note=slowest,
    )
    yield Row(
        "their memory, the largest",
        f"{PEAK_MAX_MB:.0f} MB",
        f"{peak_mb:.0f} MB",
        reached=peak_mb <= PEAK_MAX_MB,
        note=largest,
    )
