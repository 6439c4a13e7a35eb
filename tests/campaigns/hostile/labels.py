"""The labels of what was stored: no answer of a host says of itself that it is trusted, a file, or another call's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.campaigns.hostile.reading import NOTICE
from tests.campaigns.hostile.scenario_run import ScenarioRun


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
        parts = result["parts"]
        if len(parts) > 1 and re.match(NOTICE, str(result.get("content"))):
            parts = parts[1:]
        body, *others = parts
        if body["kind"] == "file" or body["file"] is not None:
            yield f"the answer of call {call['seq']} is stored as the file {body['file']}"
        if others and (len(others) > 1 or not _is_kept(run, call["seq"], others[0])):
            yield f"the answer of call {call['seq']} has {len(parts)} parts"


def _is_kept(run: ScenarioRun, seq: int, part: Mapping[str, Any]) -> bool:
    """Tell whether a part is the file of a long answer: of that call of that execution, which may read on."""
    name = re.compile(rf"executions/[0-9-]{{10}}/{re.escape(run.execution)}/{seq}\.txt")
    is_named = part["kind"] == "file" and part["file"] is not None and name.fullmatch(part["file"]) is not None
    return is_named and "file_read" in run.scenario.tools
