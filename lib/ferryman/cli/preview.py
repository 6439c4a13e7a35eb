"""Preview: what an import would come to for a task that is approved for every host of the document; no service is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ferryman import catalog
from ferryman.cli import service
from ferryman.composition import preview
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.host import is_covered
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.framing.frame import neutralize_unframed
from ferryman.serving.api import documents
from ferryman.serving.api.documents import ImportRequest, ImportTarget

Count = Callable[[int, int], None]


async def preview_import(body: Mapping[str, Any], tell: Callable[[str], None], count: Count) -> dict[str, Any]:
    """Return what the service would answer to the import `body`. Raise `InvalidInputError`.

    `tell` hears of each stage, `count` how many operations of all have been read in it.
    """
    tell("finding the hosts that its operations call")
    request, fetched = _read(body, (), count), dict[str, bytes]()
    if request.imported is None:
        try:
            fetched |= await preview.fetch_documents(body["url"], env=service.read_environment())
        except CallRefusedError as refused:
            raise build_input_error("url", refused.refusal.message) from None
    hosts = list_hosts(_write(request, fetched, (), count))
    tell("making tools of its operations")
    return _write(_read(body, hosts, count), fetched, hosts, count)


def list_hosts(imported: Mapping[str, Any]) -> list[str]:
    """Return the hosts that the tools of an import call."""
    hosts = {urlsplit(tool["configuration"]["baseUrl"]).hostname for tool in imported["data"]}
    return sorted(host for host in hosts if host)


def describe_hosts(imported: Mapping[str, Any]) -> list[str]:
    """Return the hosts of an import, each with the shipped integrations that approve it."""
    known = catalog.load().values()
    described = []
    for host in list_hosts(imported):
        names = [integration.id for integration in known if is_covered(integration.allowed_domains, host)]
        described.append(f"{host} ({', '.join(names) or 'no integration that is shipped has it'})")
    return described


def _read(body: Mapping[str, Any], domains: Sequence[str], count: Count) -> ImportRequest:
    request = documents.read_import(json.dumps(body).encode(), _approve(domains, count))
    if request.faults:
        raise InvalidInputError([_report(fault) for fault in request.faults])
    return request


def _write(request: ImportRequest, fetched: Mapping[str, bytes], domains: Sequence[str], count: Count) -> dict[str, Any]:
    imported = request.imported or documents.read_fetched(fetched, request, _approve(domains, count))
    answer: dict[str, Any] = json.loads(documents.write_import(imported, True))
    return answer


def _approve(domains: Sequence[str], count: Count) -> ImportTarget:
    """Return a task that is approved for these hosts and has nothing yet."""
    return ImportTarget(
        domains=tuple(domains), credentials={}, pairs=(), existing={}, neutralize=neutralize_unframed, count=count
    )


def _report(fault: Mapping[str, Any]) -> Problem:
    return Problem(field=".".join(map(str, fault["loc"])), message=str(fault["msg"]))
