"""Cases of agent-egress-bench (`cases/mcp-drift`): what a server listed when it was accepted, and what it lists later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCase:
    """One case: the tools of each server before and after, by the server's name, and the verdict that is due."""

    id: str
    title: str
    expected: str
    before: Mapping[str, tuple[Mapping[str, Any], ...]] = field(repr=False)
    after: Mapping[str, tuple[Mapping[str, Any], ...]] = field(repr=False)


def read_cases(folder: Path) -> list[DriftCase]:
    """Return the cases below `folder`, by name. Raise ValueError where there is none, or one cannot be read."""
    cases = [_read_case(path.parent) for path in sorted(folder.glob("**/case.yaml"))]
    if not cases:
        raise ValueError(f"{folder} has no case.yaml below it")
    return cases


def _read_case(folder: Path) -> DriftCase:
    try:
        described = yaml.safe_load((folder / "case.yaml").read_text())
        files = described["files"]
        before, after = (json.loads((folder / files[name]).read_text()) for name in ("before", "after"))
        return DriftCase(
            id=described["id"],
            title=described["title"],
            expected=described["expected_verdict"],
            before=_read_servers(before),
            after=_read_servers(after),
        )
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as error:
        raise ValueError(f"{folder} cannot be read as a case: {error}") from error


def _read_servers(answer: Mapping[str, Any]) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """Return the tools of an answer to `tools/list`, or of the answers of several servers."""
    if "servers" not in answer:
        return {"server": tuple(answer["result"]["tools"])}
    return {
        entry["server_id"].removeprefix("mcp://"): tuple(entry["tools_list_response"]["result"]["tools"])
        for entry in answer["servers"]
    }
