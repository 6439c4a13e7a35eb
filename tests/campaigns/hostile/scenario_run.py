"""A run of one scenario: what became of it, and the words that its texts are filled with."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.serving import keys
from tests.campaigns.hostile import added, archived, direct
from tests.campaigns.hostile.chatted import Chat
from tests.campaigns.hostile.harness import new_key
from tests.campaigns.hostile.scenario import (
    FRESH,
    KEYS,
    Act,
    Answer,
    Scenario,
)
from tests.campaigns.hostile.spelling import list_spellings

VICTIMS = ("vtask", "vexec", "vworkspace", "vagent", "vtalk", "vchat", "vlink", "other", "link", "late", "foreign", "elsewhere")

DIRECT = ("direct", *(f"direct_{change}" for change in direct.CHANGES))
"""Words for what the victim has, which are known once there is one."""


@dataclass(slots=True, kw_only=True)
class ScenarioRun:
    """What became of a scenario: the API's answers, the answers to its acts, and the words that its texts were filled with."""

    scenario: Scenario
    words: dict[str, str] = field(repr=False)
    loot: set[str] = field(default_factory=set, repr=False)
    key: str = field(default_factory=keys.generate_key, repr=False)
    task: str = ""
    execution: str = ""
    chat: Chat | None = None
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)
    me: Mapping[str, Any] = field(default_factory=dict, repr=False)
    budgets: list[Mapping[str, Any]] = field(default_factory=list, repr=False)
    credits_used: Decimal = Decimal(0)
    """What the records of its executions say."""
    responses: list[bytes] = field(default_factory=list, repr=False)
    acts: list[tuple[Act, int, bytes]] = field(default_factory=list, repr=False)
    setup_results: list[tuple[Act, int, bytes]] = field(default_factory=list, repr=False)
    after: list[tuple[Act, int, bytes]] = field(default_factory=list, repr=False)
    tools: list[Mapping[str, Any]] = field(default_factory=list, repr=False)
    downloads: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list, repr=False)
    """Paths of files that were sent, with the headers of their answers."""
    followed: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list, repr=False)
    """Direct links that the bucket sent a file for, with the headers of its answers."""
    signatures: list[str] = field(default_factory=list, repr=False)
    """Of the direct links that were given."""
    importer: archived.Importer | None = field(default=None, repr=False)
    imports: list[archived.ForgedImport] = field(default_factory=list, repr=False)
    board: str | None = field(default=None, repr=False)
    """The victim's file, as the victim reads it after forged archives were imported."""
    files: Mapping[str, Any] | None = field(default=None, repr=False)
    """What the API lists at the end, of a workspace that had little room."""
    trouble: str | None = None
    victim: ScenarioRun | None = None
    member_keys: dict[str, str] = field(default_factory=dict, repr=False)
    """The API keys of the scenario's members, by name."""

    @property
    def bearer(self) -> dict[str, str]:
        """The header of the owner's API key."""
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def token(self) -> str:
        return self.words["token"]


def prepare_run(scenario: Scenario) -> ScenarioRun:
    """Return a run of `scenario` with words of its own."""
    token = f"t{secrets.token_hex(6)}"
    words = {
        "token": token,
        "marker": f"said-{token}",
        "secret": f"board-{secrets.token_hex(8)}",
        "talk": f"talk-{secrets.token_hex(8)}",
        "thief": f"{token}.attacker.example",
        "site": f"{token}.pages.example",
        "whisper": f"whisper-{secrets.token_hex(8)}",
        "canary": new_key(),
        "workspace": derive_default_workspace(f"owner-{token}"),
        "mkey": new_key(),
        **dict.fromkeys((*VICTIMS, *DIRECT, *added.SERVERS, "agent"), ""),
    }
    words |= {word: new_key() for word in (*KEYS, *FRESH)} | {"skey": new_key(16)}
    loot = list_spellings(
        [scenario.turns, [list_texts(answer) for answer in scenario.answers.values()], added.list_texts(scenario)],
        {word: words[word] for word in (*KEYS, *FRESH, "mkey")},
    )
    return ScenarioRun(scenario=scenario, words=words, loot=loot)


def list_texts(answer: Answer) -> list[Any]:
    return [dict(answer.headers), answer.body if isinstance(answer.body, str) else ""]
