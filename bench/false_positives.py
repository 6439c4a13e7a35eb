"""False positives: scan foreign text (standard library, site-packages) for credentials that were never in it.

    python -m bench.false_positives [MEGABYTES]

Every 50,000 characters are the body of a request, and every 20 requests an execution, over which pieces of keys add up.
Prints the hits, which must be none, how many executions had a piece counted at all, and the speed.
"""

from __future__ import annotations

import random
import string
import sys
import sysconfig
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ferryman.domain.credentials.coverage import NOTHING
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.egress.leaks import SecretScanner

CHUNK = 50_000
CALLS = 20
KEYS = 10
LENGTHS = (16, 20)
SUFFIXES = (".py", ".txt", ".md", ".rst", ".html", ".json", ".js", ".css", ".pyi", ".h", ".c", ".xml", ".csv", ".pem")
ALPHABETS = {
    "base62": string.ascii_letters + string.digits,
    "hexadecimal": "0123456789abcdef",
    "digits": string.digits,
    "capitals": string.ascii_uppercase + string.digits,
}
WORDS = (
    *(
        "about",
        "afternoon",
        "apple",
        "attempt",
        "battery",
        "between",
        "bridge",
        "butter",
        "camera",
        "candle",
        "captain",
        "castle",
    ),
    *("change", "chicken", "circle", "coffee", "configure", "correct", "country", "default", "delete", "desktop", "diamond"),
    *("dragon", "dummy", "engine", "error", "evening", "example", "family", "father", "flower", "forest", "garden", "general"),
    *("global", "golden", "hammer", "harbour", "horse", "import", "island", "jungle", "kitchen", "kwargs", "letter", "library"),
    *(
        "machine",
        "market",
        "master",
        "matrix",
        "member",
        "middle",
        "monkey",
        "mountain",
        "number",
        "object",
        "orange",
        "packet",
    ),
    *(
        "password",
        "pepper",
        "picture",
        "planet",
        "prefix",
        "prince",
        "python",
        "quality",
        "rainbow",
        "return",
        "river",
        "school",
    ),
    *("secret", "server", "shadow", "silver", "staple", "string", "summer", "sunshine", "system", "ticket", "travel", "tuple"),
    *("value", "version", "village", "voyage", "water", "weather", "welcome", "window", "winter", "wizard", "yellow", "zephyr"),
)
"""Words of a dictionary, some of them frequent in the scanned text."""


def make_passphrase(dice: random.Random, length: int) -> str:
    """Return a passphrase of `length` characters: words of a dictionary, and a digit."""
    while True:
        passphrase = "-".join(dice.sample(WORDS, 4))[: length - 1] + dice.choice(string.digits)
        if len(set(passphrase)) >= 8 and sum(character.isalnum() for character in passphrase) >= 12:
            return passphrase


def make_credentials() -> list[Credential]:
    """Create ten credentials of the shortest allowed length and ten longer ones, of each alphabet and of words."""
    dice = random.Random(3)
    generated = []
    for length in LENGTHS:
        for kind in (*ALPHABETS, "words"):
            for number in range(KEYS):
                value = make_passphrase(dice, length) if kind == "words" else "".join(dice.choices(ALPHABETS[kind], k=length))
                name = f"{kind.upper()}_{length}_{number}"
                label = Label(owner="o", task="t", name=name, version=1, service="s", auth_type=AuthType.BEARER, hosts=())
                generated.append(Credential(label=label, secret=Secret(value)))
    return generated


def read_chunks() -> Iterator[tuple[Path, int, str]]:
    """Yield the text, in order: its file, where in it, and `CHUNK` characters."""
    roots = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")))
    for path in chain.from_iterable(sorted(root.rglob("*")) for root in roots):
        if path.suffix in SUFFIXES and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            for start in range(0, len(text), CHUNK):
                yield path, start, text[start : start + CHUNK]


def main() -> int:
    most = float(sys.argv[1] if len(sys.argv) > 1 else 100) * 1_000_000
    scanner = SecretScanner(make_credentials())
    scanned = hits = slowest = 0.0
    executions, counted, sent = 0, 0, NOTHING
    started = time.perf_counter()
    for number, (path, start, chunk) in enumerate(read_chunks()):
        if scanned >= most:
            break
        if number % CALLS == 0:
            executions, counted, sent = executions + 1, counted + bool(sent.sent), NOTHING
        before = time.perf_counter()
        finding, pieces = scanner.scan_request(
            OutboundRequest(tool="http_post", method=Method.POST, url="", body={"text": chunk})
        )
        slowest = max(slowest, time.perf_counter() - before)
        name, after = pieces.add_to(sent)
        if finding or name:
            hits += 1
            print(f"hit: {finding.name if finding else f'{name}, in pieces'} in {path} at {start}")
        else:
            sent = after
        scanned += len(chunk)
    seconds = time.perf_counter() - started
    megabytes = scanned / 1_000_000
    print(f"pieces of a key were counted in {counted} of {executions} executions of {CALLS} calls")
    print(f"{hits:.0f} hits in {megabytes:.1f} MB, {megabytes / seconds:.2f} MB/s, slowest chunk {slowest * 1_000:.0f} ms")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
