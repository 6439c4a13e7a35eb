"""The judge: whether a play got anything, from what hosts received and what was kept, with no code of the product's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.hostile.evidence import Evidence
from tests.hostile.perform import Performed
from tests.hostile.play import BEARER, HEADER, PARAM, PUBLIC
from tests.hostile.reading import misdescribed, misreadings
from tests.hostile.sightings import leaks
from tests.hostile.upstream import Seen
from tests.hostile.wire import HOSTS, NOBODY, absences, faults, whose

TOOLS_MAX, CLUSTERS_MAX = 2_000, 50
APPROVED = [*(re.escape(host) for host in (PUBLIC, BEARER, HEADER, PARAM)), r"[a-z0-9.]+\.api\.mailchimp\.com"]
USD_PER_CREDIT, INPUT_USD, OUTPUT_USD = Decimal("0.001"), Decimal(3) / 1_000_000, Decimal(15) / 1_000_000
"""What the scripted model costs, by the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """By the names of plays, in sentences: what those `got` that got something, and why those `missed` did not take place."""

    got: Mapping[str, Sequence[str]]
    missed: Mapping[str, Sequence[str]]


def verdict(evidence: Evidence, performed: Sequence[Performed]) -> Verdict:
    """What became of each play, by what `evidence` there is."""
    found: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    everyone = [*performed, *(each.victim for each in performed if each.victim)]
    by_token = {each.token: each for each in everyone}
    credited = {each.token: each.play.name for each in everyone}
    credited |= {each.victim.token: each.play.name for each in performed if each.victim}
    seen_by: dict[str, list[Seen]] = defaultdict(list)
    for seen in evidence.seen:
        token = whose(seen, by_token)
        seen_by[token].append(seen)
        if token == NOBODY and (seen.head or seen.host not in HOSTS.values()):
            found[NOBODY].append(f"a connection to {seen.host!r} that no play accounts for")
    for name, sentence in leaks(evidence, everyone, seen_by, credited):
        found[name].append(sentence)
    for each in everyone:
        prompts = evidence.prompts.get(each.token, [])
        found[credited[each.token]] += [
            *faults(each, seen_by[each.token]),
            *(sentence for prompt in prompts[-1:] for sentence in misreadings(each, prompt)),
            *(sentence for prompt in prompts[:1] for sentence in misdescribed(prompt)),
            *_spent(each, prompts),
            *_stored(each),
            *_acts(each),
        ]
        missed[credited[each.token]] += absences(each, seen_by[each.token])
    return Verdict(got=_told_once(found), missed=_told_once(missed))


def _told_once(found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(sentences)) for name, sentences in found.items() if sentences}


def _spent(each: Performed, prompts: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Turns and money: what was charged, and what the next call could have cost at worst when it was made."""
    if each.play.prompts is not None and len(prompts) > each.play.prompts:
        yield f"the model was asked {len(prompts)} times where {each.play.prompts} may"
    most = Decimal(str(each.play.task.get("max_credits", 100)))
    if each.record and Decimal(str(each.record["credits_used"])) > most:
        yield f"{each.record['credits_used']} credits were charged where {most} may"
    if each.me and Decimal(str(each.me["credits_used"])) > most:
        yield f"the owner was charged {each.me['credits_used']} credits where {most} may"
    spent = Decimal(0)
    for number, prompt in enumerate(prompts):
        if (spent + prompt["max_tokens"] * OUTPUT_USD) / USD_PER_CREDIT > most:
            yield f"the model was asked for an answer that {most} credits do not pay for"
        usage = each.play.turns[number].get("usage", {}) if number < len(each.play.turns) else {}
        spent += usage.get("input_tokens", 0) * INPUT_USD + usage.get("output_tokens", 0) * OUTPUT_USD


def _stored(each: Performed) -> Iterable[str]:
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


def _acts(each: Performed) -> Iterable[str]:
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
