"""Prompts: the abuse filter that runs before a model reads a task's text, and the variables of that text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (rule, re.compile(pattern, re.IGNORECASE))
    for rule, pattern in (
        (
            "infrastructure provisioning",
            r"\bterraform\s+(?:apply|destroy)\b|\bkubectl\s+(?:apply|create|delete)\b|\bgcloud\s+\w+(?:\s+\w+)?\s+create\b"
            r"|\b(?:spin up|provision|launch|create)\s+(?:\w+\s+){0,3}(?:ec2|gce|vm|virtual machine|kubernetes|gpu)"
            r"\s*(?:s|instances?|clusters?|nodes?)\b",
        ),
        (
            "crypto mining",
            r"\b(?:xmrig|cgminer|nicehash|minerd|ethminer)\b|\bstratum\+(?:tcp|ssl)://"
            r"|\b(?:mine|mining)\s+(?:\w+\s+){0,2}(?:monero|bitcoin|ethereum|crypto(?:currency)?|coins?)\b"
            r"|\bcrypto(?:currency)?[\s-]*min(?:er|ing)\b",
        ),
        (
            "a reverse shell",
            r"/dev/tcp/|\bbash\s+-i\b|\bnc(?:at)?\s+(?:-\w+\s+){0,20}-e\b|\breverse[\s-]*shell\b|\bsocat\s+\S*exec:"
            r"|\bsocket\.socket\b.{0,200}\bsubprocess\b",
        ),
        (
            "exfiltration of secrets",
            r"\b(?:exfiltrat\w*|smuggle out|leak)\s+(?:\w+\s+){0,4}"
            r"(?:credentials?|secrets?|api[\s_-]*keys?|tokens?|passwords?|data)\b"
            r"|\b(?:send|post|upload|forward)\s+(?:\w+\s+){0,3}(?:api[\s_-]*keys?|credentials?|secrets?|passwords?)\s+to\b"
            r"|169\.254\.169\.254|\bmetadata\.google\.internal\b",
        ),
    )
)

_VARIABLE = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")


def find_suspicion(texts: Iterable[str]) -> str | None:
    """Return the first rule that one of `texts` matches, or None. A coarse filter for careless abuse; the gate is the
    defence."""
    return next((rule for text in texts for rule, pattern in _RULES if pattern.search(text)), None)


def render_variables(text: str, variables: Mapping[str, str]) -> str:
    """Return `text` with each `{{name}}` of `variables` replaced; replacements are not rendered again, other names stay."""
    return _VARIABLE.sub(lambda match: variables.get(match[1], match[0]), text)
