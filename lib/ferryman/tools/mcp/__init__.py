"""MCP servers of others: the protocol, authorization, and calls through the gate.

Only `tools/call` has an effect, and it is sent once: a person is asked before anything is dialled, and an answer that is lost
leaves the call in doubt. What takes longer than a call goes on in a sealed continuation of its ticket, so that neither a
question to a person nor long work holds a process, a lease or a connection. The listing is verified before a call where it is
older than a minute; a tool whose descriptor is another one by then is not called.
"""
