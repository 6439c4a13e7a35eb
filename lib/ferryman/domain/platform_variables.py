"""The variables of the environment that say which platform a runtime calls, and for whom."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLATFORM_VARIABLES: Mapping[str, tuple[tuple[str, str], str, str]] = {
    "platform_endpoint": (
        ("FERRYMAN_PLATFORM_ENDPOINT", "CRAWBL_MCP_ENDPOINT"),
        r"https?://([A-Za-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?(/[A-Za-z0-9._~-]{1,255}){0,8}",
        "a URL, as https://platform.example.com/mcp, without a query",
    ),
    "platform_signing_key": (
        ("FERRYMAN_PLATFORM_SIGNING_KEY", "CRAWBL_MCP_SIGNING_KEY"),
        "[!-~]{32,4096}",
        "a key of 32 to 4,096 visible ASCII characters",
    ),
    "platform_user_id": (("FERRYMAN_PLATFORM_USER_ID", "CRAWBL_USER_ID"), "[!-~]{1,200}", "the id of a user"),
    "platform_workspace_id": (
        ("FERRYMAN_PLATFORM_WORKSPACE_ID", "CRAWBL_WORKSPACE_ID"),
        "[!-~]{1,200}",
        "the id of a workspace",
    ),
}
"""The variables of the platform's own server by the field that each fills (S4-134, S4-136, S4-137, S4-140), of which the first
that is set and not empty counts; what each must be, and how that is told."""


def read_platform(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the settings that these variables fill. Raise ValueError, whose text repeats no value.

    An endpoint of another's needs the key that it knows: of the two, both are set or none (S4-136, S4-137).
    """
    values = {}
    for name, (variables, form, expected) in PLATFORM_VARIABLES.items():
        values[name] = next(filter(None, (environment.get(variable, "").strip() for variable in variables)), "")
        if values[name] and re.fullmatch(form, values[name], re.ASCII) is None:
            raise ValueError(f"{' or '.join(variables)} must be {expected}")
    if bool(values["platform_endpoint"]) is not bool(values["platform_signing_key"]):
        missing = "platform_signing_key" if values["platform_endpoint"] else "platform_endpoint"
        ours, other = PLATFORM_VARIABLES[missing][0]
        raise ValueError(f"{ours}, or {other}, must be set: the endpoint of a platform and the key go together")
    return values
