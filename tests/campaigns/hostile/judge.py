"""The judge: whether a scenario got anything, from what hosts received and what was kept, with no code of the product's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.campaigns.hostile.evidence import Evidence
from tests.campaigns.hostile.exposures import find_exposures
from tests.campaigns.hostile.perform import ScenarioRun
from tests.campaigns.hostile.reading import find_misdescribed, find_misreadings
from tests.campaigns.hostile.scenario import BEARER, HEADER, PARAM, PUBLIC
from tests.campaigns.hostile.upstream import ReceivedRequest
from tests.campaigns.hostile.wire import HOSTS, NOBODY, find_absences, find_faults, find_owner

TOOLS_MAX, CLUSTERS_MAX = 2_000, 50
APPROVED = [*(re.escape(host) for host in (PUBLIC, BEARER, HEADER, PARAM)), r"[a-z0-9.]+\.api\.mailchimp\.com"]
USD_PER_CREDIT, INPUT_USD, OUTPUT_USD = Decimal("0.001"), Decimal(3) / 1_000_000, Decimal(15) / 1_000_000
"""What the scripted model costs, by the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """By the names of scenarios, in sentences: what those `got` that got something, and why those `missed` did not take
    place."""

    got: Mapping[str, Sequence[str]]
    missed: Mapping[str, Sequence[str]]


def judge_runs(evidence: Evidence, runs: Sequence[ScenarioRun]) -> Verdict:
    """What became of each scenario, by what `evidence` there is."""
    found: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    everyone = [*runs, *(item.victim for item in runs if item.victim)]
    by_token = {entry.token: entry for entry in everyone}
    credited = {element.token: element.scenario.name for element in everyone}
    credited |= {value.victim.token: value.scenario.name for value in runs if value.victim}
    seen_by: dict[str, list[ReceivedRequest]] = defaultdict(list)
    for seen in evidence.seen:
        token = find_owner(seen, by_token)
        seen_by[token].append(seen)
        if token == NOBODY and (seen.head or seen.host not in HOSTS.values()):
            found[NOBODY].append(f"a connection to {seen.host!r} that no scenario accounts for")
    for name, sentence in find_exposures(evidence, everyone, seen_by, credited):
        found[name].append(sentence)
    for candidate in everyone:
        prompts = evidence.prompts.get(candidate.token, [])
        found[credited[candidate.token]] += [
            *find_faults(candidate, seen_by[candidate.token]),
            *(sentence for prompt in prompts[-1:] for sentence in find_misreadings(candidate, prompt)),
            *(sentence for prompt in prompts[:1] for sentence in find_misdescribed(prompt)),
            *_spent(candidate, prompts),
            *_stored(candidate),
            *_acts(candidate),
            *_greed(candidate),
        ]
        missed[credited[candidate.token]] += [*find_absences(candidate, seen_by[candidate.token]), *_idle(candidate)]
    return Verdict(got=_repeat_result(found), missed=_repeat_result(missed))


def _repeat_result(found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(sentences)) for name, sentences in found.items() if sentences}


def _spent(each: ScenarioRun, prompts: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Turns and money: what was charged, and what the next call could have cost at worst when it was made."""
    if each.scenario.prompts is not None and len(prompts) > each.scenario.prompts:
        yield f"the model was asked {len(prompts)} times where {each.scenario.prompts} may"
    most = Decimal(str(each.scenario.task.get("max_credits", 100)))
    if each.record and Decimal(str(each.record["credits_used"])) > most:
        yield f"{each.record['credits_used']} credits were charged where {most} may"
    if each.me and Decimal(str(each.me["credits_used"])) > most:
        yield f"the owner was charged {each.me['credits_used']} credits where {most} may"
    spent = Decimal(0)
    for number, prompt in enumerate(prompts):
        if (spent + prompt["max_tokens"] * OUTPUT_USD) / USD_PER_CREDIT > most:
            yield f"the model was asked for an answer that {most} credits do not pay for"
        usage = each.scenario.turns[number].get("usage", {}) if number < len(each.scenario.turns) else {}
        spent += usage.get("input_tokens", 0) * INPUT_USD + usage.get("output_tokens", 0) * OUTPUT_USD


def _stored(each: ScenarioRun) -> Iterable[str]:
    """What the API came to over what its owner asked for, and where the tools that are stored lead."""
    for act, status, body in each.asked:
        if status >= 500:
            yield f"{act.method} {act.path} was answered {status}: {body[:100]!r}"
    if len(each.tools) > TOOLS_MAX or len({tool["cluster"] for tool in each.tools}) > CLUSTERS_MAX:
        yield f"{len(each.tools)} tools are stored"
    for tool in each.tools:
        base = tool["configuration"]["baseUrl"]
        if tool["isEnabled"] and not any(re.fullmatch(f"https://{host}", base) for host in APPROVED):
            yield f"a tool that leads to {base} is enabled"


def _greed(each: ScenarioRun) -> Iterable[str]:
    """What an attacker's own requests were taken up more often than one owner's may be."""
    for act in each.scenario.acts:
        done = sum(seen is act and status < 400 for seen, status, _ in each.acts)
        if act.most is not None and done > act.most:
            yield f"{done} of {act.times} times {act.method} {act.path} was done where {act.most} may be"


def _idle(each: ScenarioRun) -> Iterable[str]:
    """Why a greedy scenario did not take place: nothing of it was done at all."""
    for act in each.scenario.acts:
        if act.most and not any(seen is act and status < 400 for seen, status, _ in each.acts):
            yield f"{act.method} {act.path} was never done"


def _acts(each: ScenarioRun) -> Iterable[str]:
    """What an attacker's own requests were answered, and whether the victim came to harm."""
    victim = each.victim
    if victim is None:
        return
    secrets = [victim.words[word].encode() for word in ("secret", "key")]
    for act, status, body in each.acts:
        at = f"{act.method} {act.to} {act.path}"
        if any(secret in body for secret in secrets):
            yield f"{at} ({act.bearer}) was answered with another owner's data"
        if act.to != "api" and not 400 <= status < 500:
            yield f"{at} ({act.bearer}) was answered {status}"
        if act.to == "api" and "{v" in f"{act.path}{act.body}" and not 400 <= status < 500:
            yield f"{at} was answered {status}"
    if victim.record.get("status") != "completed" or victim.words["secret"] not in str(victim.record.get("output")):
        yield f"the victim's execution ended as {victim.record.get('status')}"
    if any(b'"in_doubt":true' in said for said in victim.said):
        yield "a call of the victim's ended in doubt"
