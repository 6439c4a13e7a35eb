"""The table of functions, and everything that must agree with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ferryman.catalog.tools import DECLARED, REMOTE, TOOLS
from ferryman.gcp.connecting import CONNECTING_FUNCTION, MCP_FUNCTION
from ferryman.gcp.platform import PLATFORM_FUNCTION
from ferryman.gcp.relay import STREAMING_FUNCTION
from ferryman.gcp.remote import RESEALING_FUNCTION, SCANNING_FUNCTION
from ferryman.gcp.remote_files import FILES_FUNCTION
from ferryman.stack.environment import BUCKET
from ferryman.tools.http import PARSERS

ROOT = Path(__file__).parents[2]
ROWS = {row["name"]: row for row in json.loads((ROOT / "infra/functions.json").read_text())["functions"]}
CALL_FUNCTIONS = {tool.function for tool in (*TOOLS.values(), DECLARED, REMOTE)} - {"orchestrator"}
KEYLESS = {
    "local_tools": ("-", "google"),
    "platform_call": ("read", "google"),
    "concierge": ("read", "google"),
    "files": ("-", "google"),
    "search": ("-", "search"),
    "web": ("-", "any"),
}
"""The functions that run tools without a key, what they may do in the store, and whom they reach."""
PLATFORM = (PLATFORM_FUNCTION, "platform_call")
"""The functions that sign requests to the platform, and verify them: their one key opens nothing."""
KEYED = CALL_FUNCTIONS - KEYLESS.keys()


def test_every_function_has_a_folder_and_every_folder_a_function():
    assert {path.parent.name for path in ROOT.glob("functions/*/main.py")} == set(ROWS)


def test_the_functions_are_those_of_the_tools_and_four_more():
    assert set(ROWS) == {"api", "orchestrator", "on_execution", PLATFORM_FUNCTION, *CALL_FUNCTIONS}


@pytest.mark.parametrize("tool", sorted(PARSERS))
def test_a_tool_that_sends_a_request_is_served_by_its_function(tool):
    function = TOOLS[tool].function
    assert (ROOT / f"functions/{function}/main.py").read_text().count(f'serve("{function}")') == 1


def test_exactly_the_tools_unseal_and_exactly_those_may_read_the_key():
    assert {name for name, row in ROWS.items() if row["unseals"]} == KEYED
    assert {name for name, row in ROWS.items() if "ferryman-sealing-key" in row["secrets"]} == KEYED


@pytest.mark.parametrize("function", sorted(KEYLESS))
def test_a_function_without_keys_reaches_no_secret_and_no_other_function_and_no_store_it_does_not_need(function):
    row, signs = ROWS[function], function in PLATFORM
    assert [row[what] for what in ("enqueues", "acts_as")] == [[]] * 2
    assert (row["secrets"], row["calls"]) == ((["ferryman-platform-key"], [PLATFORM_FUNCTION]) if signs else ([], []))
    assert (row["firestore"], row["egress"]) == KEYLESS[function]
    assert (row["unseals"], row["model"]) == (False, False)


def test_only_the_api_may_read_the_key_for_decisions_and_it_reads_no_other():
    assert [name for name, row in ROWS.items() if "ferryman-api-key" in row["secrets"]] == ["api"]
    assert ROWS["api"]["secrets"] == ["ferryman-api-key"]


def test_the_platform_is_called_by_the_function_that_signs_alone_and_both_read_its_key_and_no_other():
    assert ROWS[PLATFORM_FUNCTION]["callers"] == [ROWS["platform_call"]["identity"]]
    assert {name for name, row in ROWS.items() if "ferryman-platform-key" in row["secrets"]} == set(PLATFORM)
    assert [ROWS[name]["secrets"] for name in PLATFORM] == [["ferryman-platform-key"]] * 2
    assert [(ROWS[name]["unseals"], ROWS[name]["model"]) for name in PLATFORM] == [(False, False)] * 2


def test_only_the_orchestrator_may_read_the_receipt_key_and_it_reads_no_other():
    assert [name for name, row in ROWS.items() if "ferryman-receipt-key" in row["secrets"]] == ["orchestrator"]
    assert ROWS["orchestrator"]["secrets"] == ["ferryman-receipt-key"]


def test_every_function_has_an_identity_of_its_own():
    assert len({row["identity"] for row in ROWS.values()}) == len(ROWS)


def test_a_tool_is_called_by_the_orchestrator_alone_and_files_by_the_api_too():
    callers = {FILES_FUNCTION: [ROWS["api"]["identity"], "ferryman-orchestrator"]}
    assert all(ROWS[tool]["callers"] == callers.get(tool, ["ferryman-orchestrator"]) for tool in CALL_FUNCTIONS)
    assert set(ROWS["orchestrator"]["calls"]) == CALL_FUNCTIONS


def test_only_the_api_is_open_to_anyone():
    assert [name for name, row in ROWS.items() if "anyone" in row["callers"]] == ["api"]


def test_the_key_holder_that_scans_may_unseal():
    assert ROWS[SCANNING_FUNCTION]["unseals"]


def test_the_key_holder_that_reseals_may_unseal_and_its_callers_may_do_nothing_else():
    assert [name for name, row in ROWS.items() if row.get("resealers")] == [RESEALING_FUNCTION]
    assert ROWS[RESEALING_FUNCTION]["unseals"]
    asking = set(ROWS[RESEALING_FUNCTION]["resealers"])
    assert not asking & {row["identity"] for row in ROWS.values()}
    assert not asking & {caller for row in ROWS.values() for caller in row["callers"]}


def test_the_key_holders_that_connect_may_unseal_and_only_the_api_asks_them():
    connecting = [CONNECTING_FUNCTION, MCP_FUNCTION]
    assert [name for name, row in ROWS.items() if row.get("connectors")] == connecting
    assert all(ROWS[name]["unseals"] for name in connecting)
    assert all(ROWS[name]["connectors"] == [ROWS["api"]["identity"]] for name in connecting)
    assert ROWS["api"]["calls"] == [FILES_FUNCTION, *connecting, STREAMING_FUNCTION]


def test_only_the_api_has_deliveries_streamed_and_the_queue_does_not():
    assert [name for name, row in ROWS.items() if row.get("streamers")] == [STREAMING_FUNCTION]
    assert ROWS[STREAMING_FUNCTION]["streamers"] == [ROWS["api"]["identity"]]
    assert ROWS[STREAMING_FUNCTION]["callers"] == ["ferryman-queue"]


def test_one_function_may_use_the_bucket_of_files():
    assert {name: row["buckets"] for name, row in ROWS.items() if row.get("buckets")} == {FILES_FUNCTION: [BUCKET]}


def test_a_function_that_enqueues_acts_as_the_queue_and_as_nobody_else():
    assert {tuple(row["acts_as"]) for row in ROWS.values() if row["enqueues"]} == {("ferryman-queue",)}
    assert not any(row["acts_as"] for row in ROWS.values() if not row["enqueues"])


@pytest.mark.parametrize("path", sorted(ROOT.glob("functions/*/main.py")), ids=lambda path: path.parent.name)
def test_a_main_is_a_few_lines(path):
    assert len(path.read_text().splitlines()) <= 12
