"""All bounds of what a server of strangers may send, and of how long it may take (denial of service)."""

from __future__ import annotations

ANSWER_BYTES_MAX = 4_000_000
"""Of one answer, after its content coding: with images in Base64."""

SHORT_BYTES_MAX = 262_144
"""Of an answer that has no content: of server/discover, initialize, tasks/*, and of an error."""

SMALL_BYTES = 16_384
"""Up to so many bytes a message is read on the event loop, where it takes less than a millisecond; others in a worker."""

DEPTH_MAX, VALUES_MAX = 64, 50_000
"""Of one message: how deep its values are nested, and how many there are."""

LINES_MAX, EVENTS_MAX = 20_000, 2_000
"""Of one event stream: comments and empty lines are lines."""

IDLE_S = 20.0
"""For how long a server may send nothing before its answer is complete: many send a comment every 15 seconds."""

CALL_S = 30.0
"""For one request with everything that belongs to it: resumed streams, answers to the server's requests."""

HANDSHAKE_S = 10.0
"""For server/discover, initialize, ping, and for each message that has no answer."""

LISTING_S, LISTING_BYTES_MAX, PAGES_MAX, TOOLS_MAX = 60.0, 4_000_000, 50, 1_000
"""Of a listing of tools with all its pages."""

DESCRIPTOR_BYTES_MAX = 65_536
"""Of one tool in it, as JSON: a tool that is larger is not used, the others are."""

NAME_CHARACTERS_MAX = 256
"""Of a tool's name; the specification has 128."""

TEXT_CHARACTERS_MAX = 4_096
"""Of a text for people: a title, the message of an error, of progress or of an elicitation."""

INSTRUCTIONS_CHARACTERS_MAX = 32_768

CURSOR_CHARACTERS_MAX = 4_096
STATE_CHARACTERS_MAX = 65_536
"""Of a request's state, which the server has sent back to itself."""

ID_CHARACTERS_MAX = 1_024
"""Of a session, a task, and an event of a stream."""

CONTENT_MAX = 1_000
"""Blocks of content in one result."""

INPUTS_MAX = 16
"""Questions to a person in one answer."""

PROGRESS_MAX = 1_000
"""Reports of progress of one request."""

SERVER_REQUESTS_MAX = 16
"""Requests of the server in one stream (2025-11-25)."""

RESUMPTIONS_MAX = 8
"""How often one stream is taken up again (2025-11-25)."""

RETRY_S_MAX = 10.0
"""How long a server may have its client wait before that."""

TTL_MS_MAX = 86_400_000
SESSIONS_MAX, SESSION_S = 256, 1_800.0
"""Sessions (2025-11-25) that one process remembers, and for how long after their last use."""

SESSION_FRESH_S = 30.0
"""So long after its last use, a session is believed to be there still when a tool is called; later it is pinged first."""
