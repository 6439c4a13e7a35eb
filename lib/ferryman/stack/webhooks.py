"""Webhooks on the local stack: well-known hosts lead to a catcher, so that their URLs can be registered and nothing leaves."""

from __future__ import annotations

from typing import Any

from ferryman.stack.admin import Admin

HOSTS = (
    *("hooks.slack.com", "discord.com", "discordapp.com", "chat.googleapis.com", "outlook.office.com", "hooks.zapier.com"),
    *("hook.eu1.make.com", "hook.us1.make.com", "maker.ifttt.com", "webhook.site", "api.telegram.org", "events.pagerduty.com"),
    *("open.feishu.cn", "api.pushover.net", "ntfy.sh", "hc-ping.com"),
)
"""Where webhooks of widely used services are, by their documentation."""

_ROUTES = [{"method": "*", "path": "*", "body": "ok"}]


async def load_catcher(admin: Admin) -> None:
    """Have every well-known host answer `ok` to anything."""
    for host in HOSTS:
        await admin.serve_routes(host, _ROUTES)


async def list_caught(admin: Admin, host: str | None = None) -> list[dict[str, Any]]:
    """Return the requests that arrived at these hosts, or at one of them, oldest first."""
    return [received for received in await admin.list_requests(host) if received["host"] in HOSTS]
