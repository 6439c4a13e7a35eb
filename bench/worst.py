"""The worst texts, those whose bytes take the checks the longest: written by hand, and found by hypothesis and atheris.

`list_texts()` builds them, always the same. Those that were found are stored as a few bytes each (`worst.txt`), which say of
what pieces a text consists and how it is wrapped. `python -m bench.worst SECONDS` searches for worse ones, SECONDS with each of
the two, by processor time per byte, and rewrites the file with the worst of old and new.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import importlib.util
import json
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.gate import HOST, make_credentials
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.egress import checks
from tests.egress.leaks.hostile import BODIES, filler

SEEDS = Path(__file__).with_suffix(".txt")
COUNT = 200
SIZE = 50_000
TRIED_SIZE = 8_192
"""Characters of a text during the search: a second has some hundred tries."""

SEED_BYTES = (3, 24)
PIECES = (
    *(
        "\\",
        "\\\\",
        "\\u0041",
        "\\x41",
        "\\101",
        "\\u{41}",
        "%",
        "%25",
        "%41",
        "%u0041",
        "&",
        "&amp;",
        "&#65;",
        "&#x41;",
        "&lt;",
    ),
    *("=41", "=\n", "=3D", "<", "</", "<tool_response", "</tool_response>", "< ", "<\t/", "tool", "tool response", "response"),
    *(
        "Human:",
        "\nHuman",
        "System : ",
        "[INST]",
        "<|",
        "|>",
        "<|im_start|>",
        "assistant",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\u00a0",
        "\u2028",
    ),
    *(
        "A",
        "a",
        "QUJD",
        "Aw",
        "eJw",
        "H4sI",
        "0x41,",
        "41 ",
        "4a",
        "65, ",
        "01",
        "10",
        "a-",
        "a.b",
        "a,",
        ";",
        ":",
        "|",
        "_",
        "-",
    ),
    *(
        "ﷺ",
        "ﬃ",
        "𝐚",
        "é",
        "ｔ",
        "ſ",
        "\u200b",
        "\u0301",
        "\U000e0041",
        "\U0001f600",
        "sk-live-",
        '"',
        "{",
        "[",
        '{"a":',
        "]",
        "}",
        "null",
    ),
    *(
        "six ",
        "seven ",
        "alpha ",
        "bravo ",
        "part1=",
        "==",
        "+",
        "/",
        "MFRGG",
        "=",
        "x\x9c",
        "\x1f\x8b\x08",
        "BZh9",
        "\xfd7zXZ",
    ),
)


def _wrap_compressed(pack: Callable[[bytes], bytes]) -> Callable[[str], str]:
    return lambda text: base64.b64encode(pack(text.encode() * 40)).decode()


WRAPS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: text.encode().hex(),
    json.dumps,
    lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    lambda text: "".join(f"&#{ord(character)};" for character in text),
    _wrap_compressed(lambda content: zlib.compress(content, 9)),
    _wrap_compressed(lambda content: gzip.compress(content, 9, mtime=0)),
    lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
)


def build_text(seed: bytes, size: int = SIZE) -> str:
    """Return the text of `size` characters for a seed, which says the wrapping, the beginning and the repeated part."""
    wrap, heads, *chosen = seed
    pieces = [PIECES[number % len(PIECES)] for number in chosen]
    head_length = min(heads % 4, len(pieces) - 1)
    head, unit = "".join(pieces[:head_length]), "".join(pieces[head_length:])
    repeated = head + unit * (size // len(unit) + 1)
    wrapped = WRAPS[wrap % len(WRAPS)](repeated[: size if wrap % len(WRAPS) < 6 else 4_096])
    return (wrapped * (size // len(wrapped) + 1))[:size]


def list_texts(count: int = COUNT) -> list[str]:
    """List `count` of the texts, those by hand and those found in turn."""
    written, found_texts = [filler(kind) for kind in BODIES], [build_text(seed) for seed in read_seeds()]
    ordered = [text for pair in zip(written, found_texts, strict=False) for text in pair]
    ordered += found_texts[len(written) :] + written[len(found_texts) :]
    return ordered[:COUNT][:: max(1, COUNT // count)][:count]


def read_seeds() -> list[bytes]:
    """Return the seeds of the texts that were found, the worst first."""
    return [bytes.fromhex(line) for line in SEEDS.read_text().split()] if SEEDS.exists() else []


class CostMeter:
    """Measures what a byte of a text costs, in nanoseconds of the processor, as a request and as an answer."""

    def __init__(self) -> None:
        self._keys = make_credentials()
        self._policy = ExecutionPolicy(
            owner="o", task="t", plan=PRO, tools=("http_post",), integrations=("s",), domains=(HOST,)
        )

    def cost(self, text: str) -> float:
        content = text.encode("utf-8", "replace")
        outbound = OutboundRequest(tool="http_post", method=Method.POST, url=f"https://{HOST}/v1", body={"text": text})
        inbound = InboundResponse(status=200, headers=(), body=content, size_bytes=len(content))
        started = time.process_time_ns()
        with contextlib.suppress(checks.CallRefusedError):
            checks.prepare_request(outbound, self._keys, self._policy)
        checks.build_result(outbound, self._keys, inbound, "0" * 16)
        return (time.process_time_ns() - started) / len(content)


def search_with_hypothesis(seconds: float) -> list[bytes]:
    """Return the worst seeds that hypothesis finds; its target is the cost of a byte."""
    from hypothesis import HealthCheck, Phase, given, settings, strategies, target

    meter, costs, until = CostMeter(), dict[bytes, float](), time.monotonic() + seconds

    @settings(
        max_examples=100_000,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.target],
    )
    @given(strategies.binary(min_size=SEED_BYTES[0], max_size=SEED_BYTES[1]))
    def try_seed(seed: bytes) -> None:
        if time.monotonic() > until:
            return
        costs[seed] = meter.cost(build_text(seed, TRIED_SIZE))
        target(costs[seed])

    try_seed()
    print(f"hypothesis: {len(costs):,} texts", flush=True)
    return sorted(costs, key=lambda seed: -costs[seed])[:COUNT]


def search_with_atheris(seconds: float) -> list[bytes]:
    """Return the worst seeds that atheris finds, guided by coverage; none where it is not installed."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris: skipped, it is not installed (dependency group fuzz)")
        return []
    completed = subprocess.run(
        [sys.executable, "-m", "bench.worst", "atheris", str(int(seconds))], capture_output=True, text=True, check=False
    )
    seeds = [bytes.fromhex(line.partition(" ")[2]) for line in completed.stdout.splitlines() if line.startswith("worst ")]
    print(f"atheris: {len(seeds):,} texts that were worse than any before them", flush=True)
    return seeds


def _run_atheris(seconds: int) -> None:
    """Run atheris, which ends the process."""
    import atheris

    atheris.instrument_all()
    meter, most = CostMeter(), [0.0] * COUNT

    def try_seed(data: bytes) -> None:
        seed = data[: SEED_BYTES[1]]
        if len(seed) < SEED_BYTES[0]:
            return
        cost = meter.cost(build_text(seed, TRIED_SIZE))
        if cost > most[0]:
            most[:] = sorted([*most[1:], cost])
            print(f"worst {seed.hex()}", flush=True)

    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", f"-max_len={SEED_BYTES[1]}", "-verbosity=0"], try_seed)
    atheris.Fuzz()


def select_worst(seeds: Iterable[bytes], most: int) -> list[bytes]:
    """Return the `most` worst of `seeds` at their full size, no two of the same pieces."""
    meter, unlike = CostMeter(), {frozenset(build_text(seed, 200)): seed for seed in seeds}
    costs = {seed: meter.cost(build_text(seed)) for seed in unlike.values()}
    return sorted(costs, key=lambda seed: -costs[seed])[:most]


def main(seconds: float) -> None:
    """Search for worse texts than those stored, and store the worst."""
    seeds = select_worst([*read_seeds(), *search_with_hypothesis(seconds), *search_with_atheris(seconds)], COUNT - len(BODIES))
    SEEDS.write_text("".join(f"{seed.hex()}\n" for seed in seeds))
    meter = CostMeter()
    ranked = sorted(((meter.cost(text), text) for text in list_texts()), reverse=True)
    middle = ranked[len(ranked) // 2][0]
    print(f"{len(ranked)} texts; of a byte the worst costs {ranked[0][0]:,.0f} ns, the median {middle:,.0f} ns")
    for cost, text in ranked[:10]:
        print(f"  {cost:8,.0f} ns  {text[:60]!r}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["atheris", seconds]:
            _run_atheris(int(seconds))
        case [seconds]:
            main(float(seconds))
        case _:
            main(60)
