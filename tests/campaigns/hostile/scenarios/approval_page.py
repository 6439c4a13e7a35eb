"""The approval page: forged sessions, forms of other sites, sessions and keys, and requests that are no form of it."""

from __future__ import annotations

from tests.campaigns.hostile import page_moves as moves
from tests.campaigns.hostile.scenario import Scenario
from tests.campaigns.hostile.scenarios.clients import ALWAYS, ONCE

EVIL = "https://evil.example"


def _hold(what: str, act: moves.Act) -> Scenario:
    return Scenario(name=f"approval page: {what}", turns=ONCE, moves=(moves.at_the_page(act),), task=ALWAYS, requests=0)


NOBODY = (
    _hold("nobody presses the button", moves.press_with({})),
    _hold("nobody presses it with a token of their own", moves.press_with({"token": "0" * 64})),
    _hold("nobody presses it with a header of the API", moves.press_with({}, Authorization="Bearer fm_" + "a" * 43)),
)

FORGED = (
    _hold("a session is signed with another key", moves.forge_session(moves.sign_session)),
    _hold("a session has no signature", moves.forge_session(lambda name: moves.sign_session(name).rpartition(".")[0])),
    _hold("a session has an empty signature", moves.forge_session(lambda name: f"1.{name}.{'a' * 43}.{'0' * 64}")),
    _hold("a session is of a version that is not there", moves.forge_session(lambda name: "9" + moves.sign_session(name)[1:])),
    _hold("a session is its id", moves.forge_session(lambda name: name)),
    _hold("a session is the digest of a key", moves.name_digest(lambda digest: digest)),
    _hold("a session is the digest of a key, and signed with another key", moves.name_digest(moves.sign_session)),
    _hold("a session was signed out", moves.press_when_signed_out),
)

SENT_BY_OTHERS = (
    _hold("another site sends the form", moves.press_as_owner(lambda form: form, Origin=EVIL)),
    _hold("a page without an origin sends the form", moves.press_as_owner(lambda form: form, Origin="null")),
    _hold(
        "another site sends the form, as browsers say",
        moves.press_as_owner(lambda form: form, **{"Sec-Fetch-Site": "cross-site"}),
    ),
    _hold("a neighbouring site sends the form", moves.press_as_owner(lambda form: form, **{"Sec-Fetch-Site": "same-site"})),
    _hold("another site sends it without its token", moves.press_as_owner(lambda _: {})),
    _hold("another site sends it with a token that it made up", moves.press_as_owner(lambda _: {"token": "f" * 64})),
    _hold("the form is about another digest", moves.press_as_owner(lambda form: {**form, "digest": "1" * 64})),
    _hold("the form is for more sends than there may be", moves.press_as_owner(lambda form: {**form, "sends": "99"})),
)

OTHERS = (
    _hold("another owner has the form", moves.press_as_stranger),
    _hold("a key without the right has the form", moves.press_with_key(scopes=["read", "run", "manage"])),
    _hold("a key that may approve and not read has the form", moves.press_with_key(scopes=["approve"])),
    _hold("a key that is narrowed to tools has the form", moves.press_with_key(tools=["http_post"])),
    _hold("the session of a revoked key has the form", moves.press_when_revoked),
    _hold("another session has the form", moves.press_in_another_session),
    _hold("a session is used at the API and at /mcp", moves.take_session_elsewhere),
    _hold("other requests approve", moves.use_other_requests),
)

SCENARIOS = (*NOBODY, *FORGED, *SENT_BY_OTHERS, *OTHERS)
