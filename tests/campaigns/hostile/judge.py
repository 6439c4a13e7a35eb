"""Judge whether a scenario succeeded, by what hosts received and what was stored, with no code of the product."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.campaigns.hostile.archived import find_import_faults
from tests.campaigns.hostile.chatted import find_forged_turns, find_shown_parts
from tests.campaigns.hostile.conversations import find_conversation_faults
from tests.campaigns.hostile.direct import BUCKET
from tests.campaigns.hostile.downloads import find_download_faults, find_signatures
from tests.campaigns.hostile.evidence import Evidence
from tests.campaigns.hostile.exposures import find_exposures
from tests.campaigns.hostile.labels import find_claims
from tests.campaigns.hostile.reading import find_misdescribed, find_misreadings
from tests.campaigns.hostile.scenario import BEARER, HEADER, KEYS, PARAM, PUBLIC
from tests.campaigns.hostile.scenario_run import ScenarioRun
from tests.campaigns.hostile.shown import find_foreign, find_unshown, find_whispers
from tests.campaigns.hostile.spelling import fill
from tests.campaigns.hostile.upstream import ReceivedRequest
from tests.campaigns.hostile.wire import HOSTS, NOBODY, find_absences, find_faults, find_owner

TOOLS_MAX, CLUSTERS_MAX = 2_000, 50
APPROVED = [*(re.escape(host) for host in (PUBLIC, BEARER, HEADER, PARAM)), r"[a-z0-9.]+\.api\.mailchimp\.com"]
USD_PER_CREDIT, INPUT_USD, OUTPUT_USD = Decimal("0.001"), Decimal(3) / 1_000_000, Decimal(15) / 1_000_000
"""What the scripted model costs, by the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Sentences by the name of a scenario: what it `got`, and why it `missed`: did not take place."""

    got: Mapping[str, Sequence[str]]
    missed: Mapping[str, Sequence[str]]

    def join(self, other: Verdict) -> Verdict:
        """Return what became of the scenarios of both."""
        return Verdict(got={**self.got, **other.got}, missed={**self.missed, **other.missed})


def judge_runs(evidence: Evidence, runs: Sequence[ScenarioRun]) -> Verdict:
    """Decide by the evidence what became of each scenario."""
    findings: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    all_runs = [*runs, *(item.victim for item in runs if item.victim)]
    by_token = {run.token: run for run in all_runs}
    credited = {run.token: run.scenario.name for run in all_runs}
    credited |= {run.victim.token: run.scenario.name for run in runs if run.victim}
    seen_by: dict[str, list[ReceivedRequest]] = defaultdict(list)
    for received in evidence.seen:
        token = find_owner(received, by_token)
        seen_by[token].append(received)
        if token == NOBODY and (received.head or received.host not in HOSTS.values()):
            findings[NOBODY].append(f"a connection to {received.host!r} that no scenario accounts for")
    for name, sentence in find_exposures(evidence, all_runs, seen_by, credited):
        findings[name].append(sentence)
    for run in all_runs:
        prompts = evidence.prompts.get(run.token, [])
        findings[credited[run.token]] += [
            *find_faults(run, seen_by[run.token]),
            *(sentence for prompt in prompts[-1:] for sentence in find_misreadings(run, prompt)),
            *(sentence for prompt in prompts[:1] for sentence in find_misdescribed(prompt)),
            *(sentence for prompt in prompts[-1:] for sentence in find_whispers(run, prompt)),
            *(sentence for prompt in prompts[-1:] for sentence in find_foreign(run, prompt)),
            *_judge_spending(run, prompts),
            *_judge_storage(run),
            *_judge_acts(run),
            *_judge_after(run),
            *_judge_greed(run),
            *find_conversation_faults(run),
            *find_shown_parts(run.chat, run.words),
            *find_forged_turns(run.chat, prompts, _list_messages(run)),
            *find_download_faults(run),
            *find_signatures(run, evidence),
            *find_import_faults(run.imports, run.board, "" if run.victim is None else run.victim.words["secret"]),
            *find_claims(run),
        ]
        missed[credited[run.token]] += [
            *find_absences(run, seen_by[run.token]),
            *_find_unused_acts(run),
            *(sentence for prompt in prompts[-1:] for sentence in find_unshown(run, prompt)),
        ]
    return Verdict(got=_deduplicate(findings), missed=_deduplicate(missed))


def _list_messages(run: ScenarioRun) -> list[str]:
    """Return what a person has said in a chat, as the model may read it."""
    redacted = {word: f"[redacted:{name}]" for word, (name, _) in KEYS.items()}
    return list(fill(run.scenario.chat, {**run.words, **redacted}))


def _deduplicate(findings: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(sentences)) for name, sentences in findings.items() if sentences}


def _judge_spending(run: ScenarioRun, prompts: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Compare with the limits: turns, what was charged, and what each call could have cost at most when it was made."""
    if run.scenario.prompts is not None and len(prompts) > run.scenario.prompts:
        yield f"the model was asked {len(prompts)} times where {run.scenario.prompts} may"
    most = Decimal(str(run.scenario.task.get("max_credits", 100)))
    if run.record and Decimal(str(run.record["credits_used"])) > most:
        yield f"{run.record['credits_used']} credits were charged where {most} may"
    if run.me and Decimal(str(run.me["credits_used"])) > most:
        yield f"the owner was charged {run.me['credits_used']} credits where {most} may"
    spent = Decimal(0)
    for number, prompt in enumerate(prompts):
        if (spent + prompt["max_tokens"] * OUTPUT_USD) / USD_PER_CREDIT > most:
            yield f"the model was asked for an answer that {most} credits do not pay for"
        usage = run.scenario.turns[number].get("usage", {}) if number < len(run.scenario.turns) else {}
        spent += usage.get("input_tokens", 0) * INPUT_USD + usage.get("output_tokens", 0) * OUTPUT_USD


def _judge_storage(run: ScenarioRun) -> Iterable[str]:
    """Check that no request of the owner was answered 5xx, and that the stored tools are few and lead to approved hosts."""
    for act, status, body in run.setup_results:
        if status >= 500:
            yield f"{act.method} {act.path} was answered {status}: {body[:100]!r}"
        elif act.status not in (None, status):
            yield f"{act.method} {act.path} was answered {status} where {act.status} was due: {body[:100]!r}"
    if len(run.tools) > TOOLS_MAX or len({tool["cluster"] for tool in run.tools}) > CLUSTERS_MAX:
        yield f"{len(run.tools)} tools are stored"
    for tool in run.tools:
        base = tool["configuration"]["baseUrl"]
        if tool["isEnabled"] and not any(re.fullmatch(f"https://{host}", base) for host in APPROVED):
            yield f"a tool that leads to {base} is enabled"


def _judge_greed(run: ScenarioRun) -> Iterable[str]:
    """Find an attacker's requests that were accepted more often than one owner's may be."""
    for act in run.scenario.acts:
        done = sum(act_sent is act and status < 400 for act_sent, status, _ in run.acts)
        if act.most is not None and done > act.most:
            yield f"{done} of {act.times} times {act.method} {act.path} was done where {act.most} may be"


def _judge_after(run: ScenarioRun) -> Iterable[str]:
    """Check what requests about an alert were answered: the status that is due, and a refusal where none is told."""
    for act, status, body in run.after:
        if status != act.status if act.status is not None else not 400 <= status < 500:
            yield f"{act.method} {act.to} {act.path} ({act.bearer}) was answered {status}: {body[:100]!r}"


def _find_unused_acts(run: ScenarioRun) -> Iterable[str]:
    """Find acts with a limit of which none was accepted: their scenario did not take place."""
    for act in run.scenario.acts:
        if act.most and not any(act_sent is act and status < 400 for act_sent, status, _ in run.acts):
            yield f"{act.method} {act.path} was never done"


def _judge_acts(run: ScenarioRun) -> Iterable[str]:
    """Check what an attacker's requests were answered, and that the victim's execution was not disturbed."""
    victim = run.victim
    if victim is None:
        return
    secrets = [victim.words[word].encode() for word in ("secret", "key")]
    for act, status, body in run.acts:
        at = f"{act.method} {act.to} {act.path}"
        if any(secret in body for secret in secrets):
            yield f"{at} ({act.bearer}) was answered with another owner's data"
        if act.to not in ("api", BUCKET) and not 400 <= status < 500:
            yield f"{at} ({act.bearer}) was answered {status}"
        if act.status not in (None, status):
            yield f"{at} ({act.bearer}) was answered {status} where {act.status} was due: {body[:100]!r}"
        # an id that is chosen for a conversation is anybody's
        if act.to == "api" and "{v" in f"{act.path}{act.body}".replace("{vtalk}", "") and not 400 <= status < 500:
            yield f"{at} was answered {status}"
    if victim.record.get("status") != "completed" or victim.words["secret"] not in str(victim.record.get("output")):
        yield f"the victim's execution ended as {victim.record.get('status')}: {victim.record.get('error')}"
    if any(b'"in_doubt":true' in response for response in victim.responses):
        yield "a call of the victim's ended in doubt"
