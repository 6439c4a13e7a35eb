"""Downloads: with which headers the API sends files, and whether more bytes are kept than there was room for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tests.campaigns.hostile.evidence import STORAGE, Evidence
from tests.campaigns.hostile.filed import FILES
from tests.campaigns.hostile.scenario_run import ScenarioRun

HEADERS = {
    "content-disposition": r"attachment; filename=\"[A-Za-z0-9._ -]*\"; filename\*=UTF-8''[A-Za-z0-9._~%-]*",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": ".*no-store.*",
    "content-type": r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(?:;[ -~]*)?",
}
"""What every download has to have, each once, and as what."""

SENT = {
    "content-disposition": r"attachment; filename=\"[A-Za-z0-9._ -]*\"; filename\*=UTF-8''[A-Za-z0-9._~%-]*",
    "content-type": "application/octet-stream",
}
"""As what the bucket has to send every file by a direct link."""


_OTHERS = {
    *("accept-ranges", "connection", "content-length", "content-range", "cross-origin-resource-policy", "date", "etag"),
    *("last-modified", "server", "traceparent", "transfer-encoding", "x-cloud-trace-context", "x-request-id"),
}
"""What it may have besides: nothing that the name or the type of a file could add."""


def find_download_faults(run: ScenarioRun) -> Iterable[str]:
    """Find headers that would have a browser show, run or take a file for another, and files beyond their room."""
    for path, headers in run.followed:
        for name, form in SENT.items():
            values = [value for key, value in headers if key.lower() == name]
            if len(values) != 1 or not re.fullmatch(form, values[0], re.ASCII):
                yield f"{path} was sent with {name}: {values}"
    for path, headers in run.downloads:
        yield from (f"{path} {fault}" for fault in _list_faults(headers))
    for act, status, body in (*run.acts, *run.setup_results):
        if act.path.startswith(FILES.rstrip("/")) and status >= 500:
            yield f"{act.method} {act.path} was answered {status}: {body[:100]!r}"
    if run.files is not None:
        size_bytes = sum(row["size_bytes"] for row in run.files["files"])
        if run.scenario.room is not None and size_bytes > run.scenario.room:
            yield f"{size_bytes:,} bytes are kept where {run.scenario.room:,} may"
        if run.files["used_bytes"] > run.files["limit_bytes"]:
            yield f"{run.files['used_bytes']:,} bytes are counted where {run.files['limit_bytes']:,} may"


def find_signatures(run: ScenarioRun, evidence: Evidence) -> Iterable[str]:
    """Find signatures of direct links that were written down."""
    places = [thing for place in ("a log", STORAGE) for thing in evidence.places[place]] if run.signatures else []
    for signature in run.signatures:
        if any(signature.encode() in thing for thing in places):
            yield "the signature of a direct link was written down"


def _list_faults(headers: Sequence[tuple[str, str]]) -> Iterable[str]:
    counts = Counter(name.lower() for name, _ in headers)
    values = {name.lower(): value for name, value in headers}
    yield from (f"was sent with the header {name} twice" for name, count in counts.items() if count > 1)
    yield from (f"was sent with the header {name}" for name in counts if name not in (*HEADERS, *_OTHERS))
    for name, form in HEADERS.items():
        if not re.fullmatch(form, values.get(name, ""), re.ASCII):
            yield f"was sent with {name}: {values.get(name)!r}"
