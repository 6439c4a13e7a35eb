"""Checks: what has to be there before anything is made; each that is not is named, with the command that brings it."""

from __future__ import annotations

from collections.abc import Callable

from ferryman.operations.deploy.commands import CommandFailedError, CommandMissingError, Commands

NEEDED = (
    "cloudbilling.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
    "secretmanager.googleapis.com",
    "serviceusage.googleapis.com",
)
"""APIs that Terraform and these checks talk to before Terraform has enabled any."""


def check_prerequisites(commands: Commands, tell: Callable[[str], None]) -> None:
    """Check account, project, APIs and billing, in the order in which one needs the other. Raise `CommandMissingError`."""
    project = commands.project
    account = commands.ask("auth", "list", "--filter=status:ACTIVE", "--format=value(account)")
    if not account:
        raise CommandMissingError(
            "gcloud has no active account; run `gcloud auth login` and `gcloud auth application-default login`"
        )
    tell(f"acting as {account}")
    try:
        number = commands.ask("projects", "describe", project, "--format=value(projectNumber)")
    except CommandFailedError as error:
        raise CommandMissingError(
            f"the project {project} is not there, or {account} may not see it; `gcloud projects create {project}`\n{error}"
        ) from None
    tell(f"project {project} ({number})")
    enabled = set(commands.ask("services", "list", "--enabled", "--format=value(config.name)").split())
    missing = [api for api in NEEDED if api not in enabled]
    if missing:
        apis = " ".join(missing)
        raise CommandMissingError(f"these APIs are not enabled: {apis}; `gcloud services enable {apis} --project {project}`")
    if commands.ask("billing", "projects", "describe", project, "--format=value(billingEnabled)").lower() != "true":
        raise CommandMissingError(
            f"billing is not enabled for {project}; `gcloud billing projects link {project} --billing-account ACCOUNT`"
        )
    tell("APIs and billing are enabled")
