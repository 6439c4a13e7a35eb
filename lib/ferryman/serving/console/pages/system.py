"""The system: whether its parts fit together as far as the API knows, plans, models, services, jobs, and the kill switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.jobs.job import JobStatus
from ferryman.serving.console.api_client import ask_together
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute

PATH = f"{ROOT}/system"
JOBS_PATH = f"{ROOT}/jobs"
JOBS_MAX = 10
TABLE_MAX = 100
REFRESH_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Something that was examined: `grade` is well, look or wrong, as `ferryman doctor` has them."""

    of: str
    grade: str
    text: str


async def show_system(request: ConsoleRequest) -> ConsolePage:
    """Show the deployment as the API describes it: checks, jobs, plans, models and services."""
    api = request.api
    health, welcome, me, plans, models, services, receipts, decisions, jobs = await ask_together(
        api.get("/healthz"),
        api.get("/"),
        api.get("/v1/me"),
        api.get("/v1/plans", limit=TABLE_MAX),
        api.get("/v1/models", limit=TABLE_MAX),
        api.get("/v1/integrations", limit=TABLE_MAX, cursor=request.query.get("services")),
        api.get("/v1/receipt-keys"),
        api.get("/v1/decision-keys"),
        api.get("/v1/jobs", limit=JOBS_MAX),
    )
    values = {
        "checks": examine(health, me, plans, receipts, decisions),
        "welcome": welcome,
        "me": me,
        "plans": plans,
        "models": models,
        "services": services,
        "jobs": jobs,
    }
    return ConsolePage(template="system.html", title="System", values=values)


def examine(
    health: Mapping[str, Any],
    me: Mapping[str, Any],
    plans: Mapping[str, Any],
    receipts: Mapping[str, Any],
    decisions: Mapping[str, Any],
) -> list[Check]:
    """Return what was examined of the API's answers, in the order of the doctor."""
    names = ", ".join(plan["name"] for plan in plans["plans"])
    checks = [
        Check(of="api", grade="well" if health["status"] == "ok" else "wrong", text=f"answers {health['status']}"),
        Check(of="your plan", grade="wrong" if me["limits"] is None else "well", text=f"{me['plan']}, of {names}"),
        Check(of="kill switch", grade="look" if me["halted"] else "well", text=me["halted"] or "off"),
    ]
    for what, keys in (("public keys of receipts", receipts["keys"]), ("public keys of decisions", decisions["keys"])):
        text = f"versions {', '.join(keys)}" if keys else "none: signatures cannot be verified"
        checks.append(Check(of=what, grade="well" if keys else "wrong", text=text))
    return checks


async def show_jobs(request: ConsoleRequest) -> ConsolePage:
    """Show the long work in the background, newest first."""
    jobs = await request.api.get("/v1/jobs", cursor=request.query.get("cursor"))
    return ConsolePage(template="jobs.html", title="Jobs", values={"jobs": jobs})


async def show_job(request: ConsoleRequest) -> ConsolePage:
    """Show the progress of a job, and the receipt of a deletion."""
    job = await request.api.get(f"/v1/jobs/{request.params['job']}")
    values = {"job": job}
    if job["status"] != JobStatus.DONE:
        values["refresh_s"] = REFRESH_S
    return ConsolePage(template="job.html", title="Job", values=values)


ROUTES = (
    ConsoleRoute(path=PATH, show=show_system, section="system"),
    ConsoleRoute(path=JOBS_PATH, show=show_jobs, section="system"),
    ConsoleRoute(path=f"{JOBS_PATH}/{{job}}", show=show_job, section="system"),
)
