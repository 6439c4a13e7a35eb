"""The catalogue of tools: an entry without a field does not load, and what holds for a tool is what its entry says."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import fromstring

import pytest

from ferryman import catalog
from ferryman.catalog.tool_entries import read_categories, read_tools
from ferryman.catalog.tools import (
    CATEGORIES,
    DECLARED,
    FILES,
    ICONS,
    LISTED,
    PLATFORM,
    TOOLS,
    build_icon_url,
    find_tool,
    get_fee,
    holds_secrets,
    may_fetch_tokens,
)
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.expense import Expense
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.json_tree import walk
from ferryman.domain.labels.label import READ
from ferryman.domain.labels.tools import label_reading
from ferryman.domain.tools.names import PREFIX
from ferryman.domain.tools.tool import Repeatable, Tool
from ferryman.settings import MisconfiguredError
from ferryman.tools.own_arguments import RESERVED
from tests.builders import build_policy

DOCUMENT: dict[str, Any] = json.loads(files(catalog).joinpath("tools.json").read_text())
ENTRY: dict[str, Any] = DOCUMENT["tools"][0]
LISTED_ONLY: dict[str, Any] = DOCUMENT["tools"][-1]
GROUPS: list[dict[str, Any]] = json.loads(files(catalog).joinpath("tool_categories.json").read_text())
POLICY = r"\('api_call'\): policy"


def load(change: Callable[[dict[str, Any]], Any], *, place: str = "tools") -> None:
    """Load the catalogue after `change` of the first entry, or of what holds for declared tools."""
    document = copy.deepcopy(DOCUMENT)
    change(document["tools"][0] if place == "tools" else document["declared"])
    read_tools(document, CATEGORIES, ICONS)


@pytest.mark.parametrize("field", sorted(ENTRY))
def test_a_tool_without_a_field_does_not_load(field: str) -> None:
    with pytest.raises(MisconfiguredError, match=f"missing \\['{field}'\\]|{field} must be"):
        load(lambda entry: entry.pop(field))


@pytest.mark.parametrize("field", sorted(ENTRY["policy"]))
def test_a_tool_whose_policy_lacks_a_field_does_not_load(field: str) -> None:
    with pytest.raises(MisconfiguredError, match=rf"{POLICY}: .*missing \['{field}'\]"):
        load(lambda entry: entry["policy"].pop(field))


@pytest.mark.parametrize("field", sorted(DOCUMENT["declared"]))
def test_what_holds_for_declared_tools_has_every_field_too(field: str) -> None:
    with pytest.raises(MisconfiguredError, match=f"declared: .*missing \\['{field}'\\]"):
        load(lambda entry: entry.pop(field), place="declared")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("category", "nowhere"), ("icon", "nothing"), ("implemented", "yes"), ("display_name", 1)),
        *(("description", None), ("kind", 1), ("function", None), ("requires", 1), ("calls_others", "yes")),
        *(("input_schema", []), ("policy", []), ("surprise", 1), ("name", "http_get"), ("name", 1)),
    ],
)
def test_an_entry_that_breaks_a_rule_does_not_load(field: str, value: Any) -> None:
    with pytest.raises(MisconfiguredError, match=field if field != "name" else "name"):
        load(lambda entry: entry.update({field: value}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("timeout_s", 0), ("timeout_s", True), ("argument_characters_max", -1), ("argument_items_max", 1.5)),
        *(("response_bytes_max", "1"), ("result_characters_max", 0), ("network", "anywhere"), ("fee", 0.5), ("fee", "-1")),
        *(("expense", "llm_tokens"), ("expense", "food")),
        *(
            ("fee", "much"),
            ("fee", "NaN"),
            ("expense", "llm_tokens"),
            ("expense", "food"),
            ("counts", 1),
            ("repeatable", "often"),
            ("parallel_safe", None),
            ("wrapped", "no"),
        ),
        *(("needs_confirmation", 0), ("reads", "services"), ("changes", [1]), ("decided_by", "url"), ("decided_by", ["host"])),
    ],
)
def test_a_policy_that_breaks_a_rule_does_not_load(field: str, value: Any) -> None:
    with pytest.raises(MisconfiguredError, match=rf"{POLICY}\.{field}"):
        load(lambda entry: entry["policy"].update({field: value}))


def test_a_call_that_changes_something_does_not_run_beside_others() -> None:
    with pytest.raises(MisconfiguredError, match="parallel_safe: a call that changes something"):
        load(lambda entry: entry["policy"].update(parallel_safe=True))
    load(lambda entry: entry["policy"].update(parallel_safe=True, changes=[]))


def test_a_call_that_is_not_metered_costs_nothing() -> None:
    with pytest.raises(MisconfiguredError, match="fee: must be 0, since its calls are not metered"):
        load(lambda entry: entry["policy"].update(expense="storage_unmetered"))
    load(lambda entry: entry["policy"].update(expense="storage_unmetered", fee="0"))


def test_what_comes_over_a_network_is_framed() -> None:
    with pytest.raises(MisconfiguredError, match="wrapped: must be true, since its results come over a network"):
        load(lambda entry: entry["policy"].update(wrapped=False))


@pytest.mark.parametrize("kind", ["local_function", "waiting"])
def test_what_nothing_frames_is_not_said_to_be_framed(kind: str) -> None:
    with pytest.raises(
        MisconfiguredError, match=f"wrapped: must be false, since nothing frames the results of the kind {kind}"
    ):
        load(lambda entry: entry.update(kind=kind))


def test_a_tool_without_a_network_says_nothing_of_responses() -> None:
    with pytest.raises(MisconfiguredError, match="response_bytes_max: must be null"):
        load(lambda entry: entry["policy"].update(network="none", response_bytes_max=1))


def test_a_tool_may_need_a_confirmation() -> None:
    load(lambda entry: entry["policy"].update(needs_confirmation=True))


@pytest.mark.parametrize("kind", ["extracting", "finding", "passing", "recalling", "waiting"])
def test_no_tool_needs_a_confirmation_that_nobody_is_asked_for(kind: str) -> None:
    with pytest.raises(MisconfiguredError, match="needs_confirmation: must be false"):
        load(lambda entry: (entry.update(kind=kind), entry["policy"].update(needs_confirmation=True)))


@pytest.mark.parametrize("field", sorted(LISTED_ONLY))
def test_a_tool_that_is_not_implemented_lacks_no_field_of_its_own_either(field: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["tools"][-1].pop(field)
    with pytest.raises(MisconfiguredError, match=f"missing \\['{field}'\\]|{field} must be"):
        read_tools(document, CATEGORIES, ICONS)


@pytest.mark.parametrize("reason", [None, "", 1])
def test_a_tool_that_is_not_implemented_says_why(reason: Any) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["tools"][-1]["reason"] = reason
    with pytest.raises(MisconfiguredError, match="reason must say why"):
        read_tools(document, CATEGORIES, ICONS)


def test_a_tool_that_is_not_implemented_has_no_policy() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["tools"][-1]["policy"] = ENTRY["policy"]
    with pytest.raises(MisconfiguredError, match=r"unknown \['policy'\]"):
        read_tools(document, CATEGORIES, ICONS)


@pytest.mark.parametrize(
    "change", [{"name": None}, {"icon": "nothing"}, {"more": "x"}, {"id": "files"}], ids=["a field", "icon", "unknown", "id"]
)
def test_a_category_that_breaks_a_rule_does_not_load(change: dict[str, Any]) -> None:
    with pytest.raises(MisconfiguredError, match=r"tool_categories\.json entry"):
        read_categories([{**GROUPS[0], **change}, *GROUPS[1:]], ICONS)


@pytest.mark.parametrize("field", sorted(GROUPS[0]))
def test_a_category_without_a_field_does_not_load(field: str) -> None:
    with pytest.raises(MisconfiguredError, match=rf"missing \['{field}'\]"):
        read_categories([{name: value for name, value in GROUPS[0].items() if name != field}], ICONS)


def test_there_are_nine_categories_and_each_has_a_tool() -> None:
    names = ["search", "files", "memory", "scheduling", "notification", "context", "utility", "integration", "shell"]
    assert list(CATEGORIES) == names
    assert {tool.category for tool in LISTED.values()} == set(names)


CONTEXT = ("get_user_profile", "get_workspace_info", "list_conversations", "search_past_messages")
INTEGRATION = (
    *("create_agent_history", "send_message_to_agent", "create_artifact", "read_artifact", "update_artifact"),
    *("review_artifact", "create_workflow", "trigger_workflow", "check_workflow_status", "list_workflows"),
)

ANNOUNCED = [
    ("search", ["http_request"]),
    ("files", ["file_edit", "glob_search", "content_search"]),
    ("scheduling", ["cron_add", "cron_list", "cron_remove", "cron_update", "cron_run", "cron_runs"]),
    ("utility", ["calculator", "weather", "image_info"]),
    ("shell", ["shell"]),
]

ADDITIONS = {"extract", "file_list", "find_tools", "pass", "read_result", "wait_until"}
"""Tools that no seed names."""


def test_the_catalogue_has_every_tool_that_the_seeds_name() -> None:
    counts = {"http": 4, "concierge": 17, "chat": 20, "runtime": 38, "announced": 14}
    assert len(LISTED.keys() - ADDITIONS) == sum(counts.values())
    memory = [name for name in LISTED if name.startswith("memory_")]
    platform = [name for name in LISTED if name.startswith("orchestrator__")]
    crons = [name for name in LISTED if name.startswith("cron_")]
    assert (len(memory), len(platform), len(crons)) == (19, 15, 6)


def test_the_tools_of_the_runtime_have_the_categories_of_its_overview() -> None:
    overview = {
        "search": ("web_fetch", "web_search_tool"),
        "files": ("file_read", "file_write"),
        "notification": ("orchestrator__send_push_notification",),
        "context": tuple(f"orchestrator__{name}" for name in CONTEXT),
        "integration": tuple(f"orchestrator__{name}" for name in INTEGRATION),
        "memory": tuple(name for name in LISTED if name.startswith("memory_")),
    }
    assert sum(map(len, overview.values())) == 38
    assert all(LISTED[name].implemented for name in (*overview["search"], *overview["files"]))
    assert {name: LISTED[name].category for names in overview.values() for name in names} == {
        name: category for category, names in overview.items() for name in names
    }


@pytest.mark.parametrize(("category", "names"), ANNOUNCED)
def test_the_announced_tools_have_their_categories(category: str, names: list[str]) -> None:
    assert [LISTED[name].category for name in names] == [category] * len(names)


def test_of_the_fourteen_announced_tools_twelve_are_built() -> None:
    assert sum(len(names) for _, names in ANNOUNCED) == 14
    built = [name for _, names in ANNOUNCED for name in names if LISTED[name].implemented]
    scheduling = ["cron_add", "cron_list", "cron_remove", "cron_update", "cron_run", "cron_runs"]
    files = ["file_edit", "glob_search", "content_search"]
    assert built == ["http_request", *files, *scheduling, "calculator", "image_info"]


def test_the_tools_that_give_context_are_those_of_the_platform() -> None:
    names = ["get_user_profile", "get_workspace_info", "list_conversations", "search_past_messages"]
    context = [tool for tool in TOOLS.values() if tool.category == "context"]
    assert [tool.name for tool in context] == [f"{PREFIX}{name}" for name in names]
    assert {tool.kind for tool in context} == {PLATFORM}


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if tool.kind == PLATFORM], ids=lambda tool: tool.name)
def test_a_tool_of_the_platform_reads_what_may_be_a_stranger_s_over_a_network(tool: Tool) -> None:
    assert tool.policy.wrapped
    assert tool.policy.network is NetworkPolicy.OPERATOR_ENDPOINT
    assert label_reading(tool.policy) == READ
    assert (tool.policy.parallel_safe, tool.policy.repeatable is Repeatable.SAFE) == (not tool.policy.changes,) * 2


def test_the_catalogue_has_more_than_thirty_tools_and_every_one_that_the_chat_s_page_names() -> None:
    named = [
        *("search_knowledge", "browse_url", "browser_action", "analyze_page", "execute_sql", "execute_workflow", "send_email"),
        *("get_schedule_info", "create_schedule", "import_openapi_tools", "call_custom_tool", "delete_tool_cluster"),
        *("remember", "recall", "send_message", "list_gateways", "get_contact", "list_workflows", "get_workflow_status"),
    ]
    assert len(named) == 19
    assert set(named) <= LISTED.keys()
    assert len(LISTED) > 30


def test_the_first_are_those_that_can_be_called() -> None:
    assert list(LISTED)[: len(TOOLS)] == list(TOOLS)
    assert [name for name, tool in LISTED.items() if tool.implemented] == list(TOOLS)


@pytest.mark.parametrize("icon", sorted(ICONS))
def test_a_picture_is_all_in_its_url(icon: str) -> None:
    kind, _, picture = build_icon_url(icon).partition(",")
    assert kind == "data:image/svg+xml"
    assert ICONS[icon] in fromstring(unquote(picture)).itertext()


@pytest.mark.parametrize(
    ("tool", "function"),
    [
        *((name, name) for name in ("api_call", "http_get", "http_post", "webhook")),
        *((name, "http_tool") for name in ("look", "call_custom_tool", "import_openapi_tools", "delete_tool_cluster", "")),
    ],
)
def test_a_tool_has_its_function(tool: str, function: str) -> None:
    assert find_tool(tool).function == function


def test_any_other_name_is_a_declared_tool_s() -> None:
    assert "look" not in TOOLS
    assert find_tool("look") is DECLARED


@pytest.mark.parametrize(
    ("tool", "fee", "repeatable"),
    [
        *(("api_call", "0.5", "keyed"), ("http_get", "0", "safe"), ("http_post", "0", "keyed"), ("webhook", "0", "keyed")),
        *(("import_openapi_tools", "0", "safe"), ("delete_tool_cluster", "0", "safe")),
        *(("call_custom_tool", "0.5", "keyed"), ("look", "0.5", "keyed")),
    ],
)
def test_a_tool_has_its_price_and_may_be_repeated_or_not(tool: str, fee: str, repeatable: str) -> None:
    policy = find_tool(tool).policy
    assert (policy.fee, policy.repeatable, policy.counts) == (Decimal(fee), Repeatable(repeatable), True)


def test_the_tools_whose_calls_name_a_credential() -> None:
    assert [name for name, tool in TOOLS.items() if tool.names_credential] == ["api_call", "http_request"]
    assert not DECLARED.names_credential


@pytest.mark.parametrize("status", [200, 500])
def test_an_authenticated_call_costs_half_a_credit_whatever_its_target_answered(status: int) -> None:
    assert get_fee(ToolCallResult("api_call", "", credential_used="KEY", response_status=status)) == Decimal("0.5")


def test_a_timed_out_call_was_sent_and_costs_half_a_credit() -> None:
    result = ToolCallResult.from_refusal("api_call", refusal.report_timeout(30), credential="KEY")
    assert (result.blocked, get_fee(result)) == (False, Decimal("0.5"))


def test_a_blocked_call_is_free() -> None:
    assert get_fee(ToolCallResult.from_refusal("api_call", refusal.refuse_leak("KEY"), credential="KEY")) == 0


@pytest.mark.parametrize("tool", ["http_get", "http_post", "webhook", "orchestrator__search_past_messages", "cron_add"])
def test_the_other_tools_are_free_even_if_a_credential_is_named(tool: str) -> None:
    assert get_fee(ToolCallResult(tool, "", credential_used="KEY", response_status=200)) == 0


def test_a_call_of_a_declared_tool_that_names_no_credential_is_free() -> None:
    assert get_fee(ToolCallResult("get_weather", "", response_status=200)) == 0


@pytest.mark.parametrize(
    ("fields", "fetches"),
    [
        ({}, False),
        ({"tools": ("api_call", "http_get", "http_post", "webhook")}, False),
        ({"tools": ("http_get", "call_custom_tool")}, True),
        ({"declared": {"look": "f1"}}, True),
    ],
)
def test_tokens_are_fetched_for_those_tools_alone_that_the_function_of_declared_ones_executes(
    fields: dict[str, Any], fetches: bool
) -> None:
    assert may_fetch_tokens(build_policy(**fields)) is fetches


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"tools": ("http_get",)}, False),
        ({"credentials": ("K",)}, True),
        ({"former": True}, True),
        ({"declared": {"look": "f1"}}, True),
    ],
)
def test_texts_are_scanned_where_there_is_a_secret_to_find(fields: dict[str, Any], holds: bool) -> None:
    assert holds_secrets(build_policy(**fields)) is holds


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_tool_and_each_of_its_arguments_is_described(tool: Tool) -> None:
    arguments = tool.schema.get("properties", {})
    assert len(tool.description.split()) >= 5
    assert [name for name, schema in arguments.items() if not schema.get("description")] == []


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_no_argument_that_a_model_is_shown_says_for_whom_or_where_a_call_is(tool: Tool) -> None:
    properties = [value for _, value in walk(dict(tool.schema)) if isinstance(value, Mapping)]
    arguments = {name for value in properties for name in value.get("properties", ())}
    assert [name for name in arguments if RESERVED.fullmatch(name)] == []


def test_exactly_the_tools_of_files_are_entered_as_storage_that_is_not_metered() -> None:
    unmetered = {name for name, tool in TOOLS.items() if tool.policy.expense is Expense.STORAGE_UNMETERED}
    assert unmetered == {name for name, tool in TOOLS.items() if tool.kind == FILES}
