"""Budget: a model that does not stop, asks for everything at once, or for more than is paid for."""

from __future__ import annotations

from tests.campaigns.hostile.scenario import BEARER, PUBLIC, Scenario, call, call_api, call_once, call_tools, finish

G = f"https://{PUBLIC}/{{token}}"
B = f"https://{BEARER}/{{token}}"


def _many(count: int) -> list[dict[str, object]]:
    return [call("http_get", url=f"{G}/{number}") for number in range(count)]


DEAR = {"input_tokens": 1_000, "output_tokens": 1_500}
"""25.5 credits at the scripted price of 3 and 15 USD a million."""

SCENARIOS = (
    Scenario(name="budget: thirty calls in one turn", keys=(), a_minute=20, turns=(call_tools(*_many(30)), finish())),
    Scenario(name="budget: a hundred calls in one turn", keys=(), a_minute=20, turns=(call_tools(*_many(100)), finish())),
    Scenario(
        name="budget: two hundred calls in one turn", keys=(), requests=0, prompts=1, turns=(call_tools(*_many(200)), finish())
    ),
    Scenario(
        name="budget: fifteen calls on a smaller plan",
        keys=(),
        plan="guru",
        a_minute=10,
        turns=(call_tools(*_many(15)), finish()),
    ),
    Scenario(
        name="budget: ten calls a turn, for ever",
        keys=(),
        a_minute=20,
        prompts=6,
        task={"max_iterations": 5},
        turns=tuple(call_tools(*[call("http_get", url=f"{G}/{turn}/{n}") for n in range(10)]) for turn in range(12)),
    ),
    Scenario(
        name="budget: a call a turn, for ever",
        keys=(),
        requests=3,
        prompts=4,
        task={"max_iterations": 3},
        turns=tuple(call_tools(call("http_get", url=f"{G}/{turn}")) for turn in range(12)),
    ),
    Scenario(
        name="budget: refused calls, for ever",
        keys=(),
        requests=0,
        prompts=5,
        task={"max_iterations": 4},
        turns=tuple(call_tools(call("shell", at=turn)) for turn in range(12)),
    ),
    Scenario(
        name="budget: the same call, thirty times",
        keys=(),
        a_minute=20,
        turns=(call_tools(*[call("http_get", url=G) for _ in range(30)]), finish()),
    ),
    Scenario(
        name="budget: dear answers",
        keys=(),
        task={"max_credits": 60, "max_iterations": 20},
        turns=tuple({**call_tools(call("http_get", url=f"{G}/{turn}")), "usage": DEAR} for turn in range(12)),
    ),
    Scenario(
        name="budget: one answer dearer than all there is",
        keys=(),
        task={"max_credits": 5},
        turns=({**call_tools(call("http_get", url=G)), "usage": {"input_tokens": 10, "output_tokens": 4_000}}, finish()),
    ),
    Scenario(
        name="budget: more tokens than there are credits for",
        keys=(),
        task={"max_credits": 2, "max_tokens": 64_000},
        turns=(finish(),),
    ),
    Scenario(
        name="budget: fees beyond the limit",
        task={"max_credits": 3},
        requests=6,
        turns=(call_tools(*[call_api(f"{B}/{n}") for n in range(15)]), finish()),
    ),
    Scenario(
        name="budget: a body of half a megabyte",
        keys=(),
        requests=1,
        turns=call_once("http_post", url=G, body={"a": "x" * 500_000}),
    ),
    Scenario(
        name="budget: a body beyond what is sent",
        keys=(),
        requests=0,
        turns=call_once("http_post", url=G, body={"a": "x" * 1_100_000}),
    ),
    Scenario(
        name="budget: a URL beyond what is sent", keys=(), requests=0, turns=call_once("http_get", url=f"{G}/" + "a" * 3_000)
    ),
    Scenario(
        name="budget: parameters beyond what is sent",
        keys=(),
        requests=0,
        turns=call_once("http_get", url=G, query_params={f"k{n}": "v" * 100 for n in range(300)}),
    ),
    Scenario(
        name="budget: an answer that is cut in the middle of a call",
        keys=(),
        requests=0,
        turns=({**call_tools(call("http_get", url=G)), "stop_reason": "max_tokens"}, finish()),
    ),
    Scenario(
        name="budget: two calls with one id",
        keys=(),
        a_minute=20,
        turns=(call_tools(*[{**call("http_get", url=f"{G}/{n}"), "id": f"toolu_{n % 2}x{n}"} for n in range(6)]), finish()),
    ),
)
