"""The labels of what was stored: no answer of a host says of itself that it is trusted, a file, or another call's."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tests.campaigns.hostile.perform import ScenarioRun


def find_claims(run: ScenarioRun) -> Iterable[str]:
    """Find parts of an answer, in the calls as the API returns them, whose label or kind is not what its call gave them."""
    pages = [json.loads(body) for body in run.responses if b'"calls"' in body[:200]]
    for call in (call for page in pages for call in page.get("calls", ())):
        result = call["result"]
        if result is None or result["response_status"] is None:
            continue
        for part in result["parts"]:
            label = part["label"]
            sources = [(source["tool"], source["call"]) for source in label["sources"]]
            if label["integrity"] != "untrusted" or label["confidentiality"] == "public":
                yield f"the answer of call {call['seq']} is labelled {label['integrity']} and {label['confidentiality']}"
            # a declared tool that was called by its name says so itself
            named = (call["arguments"] or {}).get("toolName") if call["tool"] == "call_custom_tool" else None
            if sources != [(named or call["tool"], call["seq"])] or "?" in str(label["sources"][0]["url"]):
                yield f"the answer of call {call['seq']} is said to come from {label['sources']}"
            if part["kind"] == "file" or part["file"] is not None:
                yield f"the answer of call {call['seq']} is stored as the file {part['file']}"
        if len(result["parts"]) > 1:
            yield f"the answer of call {call['seq']} has {len(result['parts'])} parts"
