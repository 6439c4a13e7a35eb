"""Layers: the same house with one wall taken out, as a copy of the library in which a line or two is another's.

The product has no switch for any of this. A cut that does not find its line is an error, so that the table cannot go stale.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "lib" / "ferryman"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """In `file` of the library, `old` (which must stand there exactly once) becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One wall: its name, and what takes it out. `behind` says what still holds where nothing gets through without it."""

    name: str
    cuts: tuple[Cut, ...]
    behind: str = ""


_LOOSE = """    from urllib.parse import urlsplit

    parts = urlsplit(raw.replace("\\\\", "/"))
    return URL(host=(parts.hostname or "").lower(), path=parts.path or "/", query=parts.query or None)
    if len(raw) > CHARACTERS_MAX:"""

LAYERS = (
    Layer(
        name="URL grammar",
        cuts=(Cut(file="domain/url.py", old="    if len(raw) > CHARACTERS_MAX:", new=_LOOSE),),
        behind="the list of approved domains, on the very host that is dialled",
    ),
    Layer(
        name="approved domains",
        cuts=(Cut(file="domain/remit.py", old="return covered(self.domains, host)", new="return True"),),
    ),
    Layer(
        name="URL grammar and approved domains",
        cuts=(
            Cut(file="domain/url.py", old="    if len(raw) > CHARACTERS_MAX:", new=_LOOSE),
            Cut(file="domain/remit.py", old="return covered(self.domains, host)", new="return True"),
        ),
    ),
    Layer(
        name="registered webhooks",
        cuts=(Cut(file="egress/allow.py", old="        if not registered(url, remit):", new="        if False:"),),
    ),
    Layer(
        name="credentials bound to hosts",
        cuts=(Cut(file="egress/binding.py", old="    if not covered(credential.label.hosts, host):", new="    if False:"),),
    ),
    Layer(
        name="address check",
        cuts=(Cut(file="egress/pin.py", old=" or not all(public(each) for each in answers)", new=""),),
    ),
    Layer(
        name="certificates",
        cuts=(
            Cut(
                file="egress/tls.py",
                old="    made.minimum_version",
                new="    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE\n    made.minimum_version",
            ),
        ),
    ),
    Layer(
        name="leak scan of requests",
        cuts=(Cut(file="egress/gate.py", old="        scan(outbound, scanner)\n", new=""),),
    ),
    Layer(
        name="scan of what the model says",
        cuts=(
            Cut(
                file="tools/carry.py",
                old="    return list(house.said(credentials.values(), content))",
                new="    return list(content)",
            ),
        ),
    ),
    Layer(
        name="redaction of answers",
        cuts=(
            Cut(
                file="egress/sanitize.py",
                old="text = scanner.redact(read)",
                new="text = read",
            ),
        ),
    ),
    Layer(
        name="redaction of refusals",
        cuts=(
            Cut(
                file="egress/gate.py",
                old="outbound.tool, spoken(reason, scanner), url=scanner.redact(outbound.url)",
                new="outbound.tool, reason, url=outbound.url",
            ),
        ),
    ),
    Layer(
        name="unseen characters",
        cuts=(
            Cut(
                file="egress/sanitize.py",
                old="found.append(visible(piece))",
                new="found.append(piece)",
            ),
        ),
    ),
    Layer(
        name="framing",
        cuts=(
            Cut(
                file="egress/frame.py",
                old="    for _ in range(ROUNDS):\n        bare = normalised(body)",
                new="    return body\n    for _ in range(ROUNDS):\n        bare = normalised(body)",
            ),
        ),
    ),
    Layer(
        name="headers",
        cuts=(
            Cut(
                file="egress/headers.py",
                old="    reserved = {spelling(name) for name in injected_names(credentials)}",
                new="    return tuple((name.lower(), str(value)) for name, value in headers.items())\n    reserved = set[str]()",
            ),
            Cut(file="egress/gate.py", old="        headers.own(outbound.fixed_headers)\n", new=""),
        ),
    ),
    Layer(
        name="the credential's parameter alone",
        cuts=(Cut(file="egress/inject.py", old="        if name.lower() in _names(query):", new="        if False:"),),
    ),
    Layer(
        name="argument schemas",
        cuts=(
            Cut(
                file="tools/arguments.py",
                old="    if _depth_exceeds(arguments, DEPTH_MAX):",
                new="    return\n    if _depth_exceeds(arguments, DEPTH_MAX):",
            ),
        ),
    ),
    Layer(
        name="enabled tools",
        cuts=(
            Cut(file="tools/registry.py", old="if registered is None and name in enabled:", new="if registered is None:"),
            Cut(file="tools/registry.py", old="        if name not in enabled:", new="        if False:"),
            Cut(file="tools/carry.py", old="    if ticket.tool not in remit.enabled:", new="    if False:"),
        ),
    ),
    Layer(
        name="no redirects",
        cuts=(Cut(file="egress/send.py", old="follow_redirects=False", new="follow_redirects=True"),),
    ),
    Layer(
        name="one deadline for all of a call",
        cuts=(
            Cut(
                file="egress/gate.py",
                old="async with asyncio.timeout(within_s):",
                new="async with asyncio.timeout(None):",
            ),
        ),
    ),
    Layer(
        name="call limits",
        cuts=(
            Cut(file="domain/rate.py", old="        if self.calls >= plan.calls_per_execution:", new="        if False:"),
            Cut(file="domain/rate.py", old="        if after.window_calls > plan.calls_per_minute:", new="        if False:"),
        ),
    ),
    Layer(
        name="credit limit",
        cuts=(
            Cut(
                file="billing/prices.py",
                old="        return max(0, int(left * _MILLION / self.output)) if self.output else 2**31",
                new="        return 2**31",
            ),
        ),
    ),
    Layer(
        name="identity between functions",
        cuts=(
            Cut(
                file="serving/entry.py",
                old='    audience = known.function_urls.get(known.function, "")\n',
                new='    return "anyone"\n    audience = known.function_urls.get(known.function, "")\n',
            ),
        ),
    ),
    Layer(
        name="ownership in the API",
        cuts=(
            Cut(file="serving/api/asking.py", old=" or task.owner != owner.id", new=""),
            Cut(file="serving/api/asking.py", old=" or execution.owner != owner.id", new=""),
        ),
    ),
)

MAIN = """import sys
sys.path.insert(0, {library!r})
from pathlib import Path
exec(compile(Path({main!r}).read_text(), {main!r}, "exec"))
"""


@contextlib.contextmanager
def without(layer: Layer) -> Iterator[Path]:
    """The folder of a house without `layer`: functions that import a copy of the library with its cuts made."""
    with tempfile.TemporaryDirectory(prefix="ferryman-hostile-") as folder:
        library, functions = Path(folder) / "lib", Path(folder) / "functions"
        shutil.copytree(LIBRARY, library / "ferryman", ignore=shutil.ignore_patterns("__pycache__"))
        for cut in layer.cuts:
            file = library / "ferryman" / cut.file
            file.write_text(made(cut, file.read_text()))
        for main in sorted((ROOT / "functions").glob("*/main.py")):
            own = functions / main.parent.name / "main.py"
            own.parent.mkdir(parents=True)
            own.write_text(MAIN.format(library=str(library), main=str(main)))
        yield functions


def made(cut: Cut, text: str) -> str:
    """`text` with the cut made. Raises LookupError where its line is not there, or not alone."""
    if text.count(cut.old) != 1:
        raise LookupError(f"{cut.file} has {text.count(cut.old)} times: {cut.old.strip()}")
    return text.replace(cut.old, cut.new)
