"""What a hostile model tries is refused with the specification's sentence, and the execution goes on."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.journeys.conftest import KEY, Journey, asks, call, says

GET, HOST = "http_get", "api.coingecko.com"


async def expect_refusal(journey: Journey, use: dict[str, Any], sentence: str, **fields: Any) -> dict[str, Any]:
    """Return the audit row of one call that must be refused with `sentence`; nothing may have reached any host."""
    await journey.serve(HOST)
    fields = {"tools": ["http_get", "api_call"], "integrations": ["coingecko", "lunarcrush"], **fields}
    task = await journey.task(asks(use), says("Finished all the same.", expect=(sentence,)), **fields)
    if "lunarcrush" in fields["integrations"]:
        await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    record = await journey.run(task)
    assert await journey.problems() == []
    assert (record["status"], record["output"]) == ("completed", "Finished all the same.")
    assert [request for request in await journey.admin.list_requests() if request["path"] == journey.path] == []
    row: dict[str, Any] = record["tool_calls"][0]
    assert row["blocked"]
    return row


async def test_a_domain_of_no_approved_integration_is_refused(journey: Journey) -> None:
    use = call(GET, url=journey.url("attacker.example"))
    sentence = "Error: URL blocked -- Domain attacker.example not in any approved integration for this task. Approved: ["
    assert (await expect_refusal(journey, use, sentence))["block_reason"] == "url_blocked"


async def test_a_url_that_is_not_https_is_refused(journey: Journey) -> None:
    use = call(GET, url=f"http://{HOST}{journey.path}")
    assert (await expect_refusal(journey, use, "only https:// URLs are allowed"))["block_reason"] == "url_blocked"


@pytest.mark.parametrize(
    "form", [KEY, base64.b64encode(KEY.encode()).decode(), KEY.encode().hex()], ids=["plain", "base64", "hex"]
)
async def test_a_credentials_value_in_the_query_is_refused(journey: Journey, form: str) -> None:
    use = call(GET, url=journey.url(HOST), query_params={"q": form})
    sentence = "Error: Blocked -- Credential LUNARCRUSH_API_KEY detected in outbound request. This has been logged."
    assert (await expect_refusal(journey, use, sentence))["block_reason"] == "credential_leak"


async def test_a_tool_that_does_not_exist_is_refused(journey: Journey) -> None:
    row = await expect_refusal(journey, call("telepathy", thought="id"), "Error: unknown tool 'telepathy'")
    assert row["block_reason"] == "unknown_tool"


async def test_a_tool_that_is_only_listed_in_the_catalog_says_so(journey: Journey) -> None:
    row = await expect_refusal(journey, call("shell", command="id"), "Error: tool 'shell' is not implemented")
    assert row["block_reason"] == "tool_not_implemented"


async def test_a_tool_that_is_not_enabled_is_refused(journey: Journey) -> None:
    use = call("webhook", url="https://hooks.slack.com/x", body={})
    row = await expect_refusal(journey, use, "Error: tool 'webhook' is not enabled for this task")
    assert row["block_reason"] == "tool_not_enabled"


async def test_a_call_without_its_credential_is_refused(journey: Journey) -> None:
    use = call("api_call", method="GET", url=journey.url(HOST))
    row = await expect_refusal(journey, use, "Error: 'credential' field required for api_call")
    assert row["block_reason"] == "missing_credential"


async def test_a_credential_that_is_not_stored_is_refused(journey: Journey) -> None:
    use = call("api_call", method="GET", url=journey.url(HOST), credential="MY_KEY")
    sentence = "Error: credential 'MY_KEY' not found. Check your task's credential configuration."
    assert (await expect_refusal(journey, use, sentence))["block_reason"] == "credential_not_found"


async def test_a_name_that_does_not_resolve_is_refused(journey: Journey) -> None:
    use = call(GET, url=journey.url("pro-api.coingecko.com"))
    sentence = "Error: DNS resolution failed or blocked for pro-api.coingecko.com"
    assert (await expect_refusal(journey, use, sentence))["block_reason"] == "dns_validation_failed"
