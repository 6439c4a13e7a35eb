"""The composition root of a preview: a document is fetched from here, through the same gate, for no task and with no key."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman import settings
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.owners.plan import PRO
from ferryman.domain.problem import build_input_error
from ferryman.egress import checking
from ferryman.egress.build import build_gate
from ferryman.inmemory.log import NoLog
from ferryman.ports.gate import CallPolicy
from ferryman.tools.declared.documents import IMPORTER, OpenApiFetcher

NOBODY = "preview"


async def fetch_documents(url: str, *, env: Mapping[str, str]) -> Mapping[str, bytes]:
    """Return the document at `url` with those it refers to at the same host, by their URLs.

    Raise `InvalidInputError`, also for what is no URL, and `CallRefusedError`.
    """
    try:
        host = parse_url(url).host
    except InvalidUrlError as error:
        raise build_input_error("url", str(error)) from None
    log = NoLog()
    fetcher = OpenApiFetcher(gate=build_gate(settings.read(env), log), redact=checking.redact_document)
    policy = ExecutionPolicy(
        owner=NOBODY, task=NOBODY, plan=PRO, tools=(), integrations=(NOBODY,), domains=(host,), credentials=()
    )
    call = CallPolicy(execution=policy, credentials={}, about={})
    return (await fetcher.fetch(url, tool=IMPORTER, call=call, within_s=REQUEST_SECONDS)).texts
