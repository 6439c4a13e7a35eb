"""Fields and headings that the forms of tasks and of agents share."""

from __future__ import annotations

from ferryman.domain.approvals.rules import RULES_MAX
from ferryman.domain.tasks.task import DESCRIPTION_CHARACTERS_MAX
from ferryman.serving.console.form_fields import FormField

WORK, TOOLS, LIMITS = "What it does", "Tools", "Limits"

DESCRIPTION = FormField(
    name="description",
    label="Description",
    group=WORK,
    is_rare=True,
    help=f"For people; at most {DESCRIPTION_CHARACTERS_MAX:,} characters",
)
APPROVAL_RULES = FormField(
    name="approvals",
    label="Approval rules",
    kind="json",
    group=TOOLS,
    is_rare=True,
    when_empty="omit",
    help=f"A list of at most {RULES_MAX} rules, as in the API",
)
