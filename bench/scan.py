"""What searching for credentials costs, beside writing the same body as JSON and a plain search for each value.

    python -m bench.scan

Prints milliseconds, the best of several turns, and ratios: bodies of 50 KB and 2 MB with 1, 10 and 100 credentials, building
the scanner, and the worst of the bodies made to be slow.
"""

from __future__ import annotations

import base64
import json
import random
import string
import time
from collections.abc import Callable
from typing import Any

from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.egress.leaks import SecretScanner, redact_text
from tests.egress.leaks.hostile import BODIES, filler

SMALL = 50_000
LARGE = 2_000_000
COUNTS = (1, 10, 100)
WORDS = ("the", "quick", "brown", "fox", "over", "lazy", "dog", "weather", "report", "title", "with", "price", "symbol")


def make_credentials(count: int) -> list[Credential]:
    """Create `count` credentials of the usual kind: a public prefix and 32 letters and digits."""
    dice = random.Random(3)
    generated = []
    for number in range(count):
        label = Label(owner="o", task="t", name=f"K{number}", version=1, service="s", auth_type=AuthType.BEARER, hosts=())
        value = "sk-live-" + "".join(dice.choices(string.ascii_letters + string.digits, k=32))
        generated.append(Credential(label=label, secret=Secret(value)))
    return generated


def build_tree(size: int) -> dict[str, Any]:
    """Return a body like those of APIs: records of numbers, identifiers, addresses, times and sentences, of `size` bytes as
    JSON."""
    dice = random.Random(5)
    items: list[Any] = []
    length = 0
    while length < size:
        hexadecimal = f"{dice.getrandbits(128):032x}"
        item = {
            "id": len(items),
            "uuid": "-".join((hexadecimal[:8], hexadecimal[8:12], hexadecimal[12:16], hexadecimal[16:20], hexadecimal[20:])),
            "title": " ".join(dice.choices(WORDS, k=10)),
            "price": round(dice.random() * 1_000, 2),
            "tags": dice.choices(WORDS, k=3),
            "url": f"https://example.com/a/{len(items)}?q={dice.choice(WORDS)}",
            "active": True,
            "at": "2026-01-02T03:04:05Z",
            "author": {"name": " ".join(dice.choices(WORDS, k=2)).title(), "email": "a@example.com"},
            "note": 'He said "ok" — naïve\n',
        }
        items.append(item)
        length += len(json.dumps(item)) + 2
    return {"items": items}


def build_page(size: int) -> str:
    """Return a page of HTML of `size` characters."""
    dice = random.Random(6)
    rows = (
        f'<div class="row" id="r{row}"><a href="/x?y={row}&amp;z=1">{" ".join(dice.choices(WORDS, k=8))}</a>'
        "&nbsp;<p>&lt;b&gt;</p></div>\n"
        for row in range(size // 80)
    )
    return "".join(rows)[:size]


def measure_best(action: Callable[[], object], turns: int) -> float:
    """Return the least time of `turns` on the processor, in milliseconds; what else the machine does is left out."""
    times = []
    for _ in range(turns):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times) * 1_000


def build_request(body: dict[str, Any]) -> OutboundRequest:
    return OutboundRequest(tool="http_post", method=Method.POST, url="https://api.example.com/v1/items?page=1", body=body)


def print_row(name: str, size: int, keys: int, took_ms: float, baseline_ms: float, baseline: str) -> None:
    beside = f"{took_ms / baseline_ms:8.1f} x {baseline} ({baseline_ms:.2f} ms)"
    print(f"{name:34} {size / 1_000:7,.0f} KB {keys:4} {took_ms:9.2f} ms {beside}")


def measure_decoding(size: int, turns: int, counts: tuple[int, ...]) -> None:
    """Measure bodies that are decoded in full, beside writing the same records as JSON."""
    structure = build_tree(size)
    text = json.dumps(structure)
    blob = base64.b64encode(random.Random(7).randbytes(size * 3 // 4)).decode()
    baseline = measure_best(lambda: json.dumps(structure), turns)
    for count in counts:
        scanner = SecretScanner(make_credentials(count))
        outbound = build_request(structure)
        duration = measure_best(lambda scanner=scanner, outbound=outbound: scanner.find_in_request(outbound), turns)  # type: ignore[misc]  # bound per turn
        print_row("request, JSON tree", size, count, duration, baseline, "json.dumps")
        for kind, body in {"JSON text": text, "HTML": build_page(size), "base64 blob": blob}.items():
            duration = measure_best(lambda scanner=scanner, body=body: scanner.find(body), turns)  # type: ignore[misc]  # bound per turn
            print_row(f"decoded in full, {kind}", len(body), count, duration, baseline, "json.dumps of the records")


def measure_searching(size: int, turns: int) -> None:
    """Measure bodies that are only searched, and as responses, beside a plain search for each value."""
    text = json.dumps(build_tree(size))
    for count in COUNTS:
        keys = make_credentials(count)
        scanner = SecretScanner(keys)
        values = [credential.secret.reveal() for credential in keys]
        baseline = measure_best(lambda values=values: [value in text for value in values], turns)  # type: ignore[misc]  # bound per turn
        duration = measure_best(lambda scanner=scanner: scanner.find_spans(text), turns)  # type: ignore[misc]  # bound per turn
        print_row("secrets only, JSON text", size, count, duration, baseline, "in, for each value")
        duration = measure_best(lambda scanner=scanner: redact_text(text, scanner), turns)  # type: ignore[misc]  # bound per turn
        print_row("response redacted, JSON text", size, count, duration, baseline, "in, for each value")


def measure_building() -> None:
    """Measure what each call pays before it scans anything."""
    for count in COUNTS:
        keys = make_credentials(count)
        print(f"building the scanner, {count:3} keys {measure_best(lambda keys=keys: SecretScanner(keys), 9):8.2f} ms")  # type: ignore[misc]  # bound per turn


def measure_hostile() -> None:
    """Measure the bodies made to be slow, and print the worst."""
    scanner = SecretScanner(make_credentials(10))
    times = {kind: measure_best(lambda text=filler(kind): scanner.find(text), 2) for kind in BODIES}  # type: ignore[misc]  # bound per turn
    for kind in sorted(times, key=times.__getitem__, reverse=True)[:5]:
        print(f"made to be slow: {kind:40} {times[kind]:8.2f} ms")
    print(f"worst of {len(times)} bodies made to be slow: {max(times.values()):.2f} ms")


def main() -> None:
    print(f"{'body':34} {'size':>10} {'keys':>4} {'scan':>12} {'ratio':>10}")
    measure_decoding(SMALL, 5, COUNTS)
    measure_decoding(LARGE, 1, (10,))
    measure_searching(SMALL, 5)
    measure_searching(LARGE, 3)
    measure_building()
    measure_hostile()


if __name__ == "__main__":
    main()
