"""MCP servers of agents: what is stored of a server and its tools, and the rules by which a listing changes them.

A tool is pinned by the SHA-256 of all that its server has sent of it (RFC 8785), and a person accepts digests, never names: a
change of any byte holds it, since no rule tells a harmless change from a rug pull by its text. A fingerprint ties an
execution's policy to pin, URL and authentication, so that whatever changes meanwhile refuses the call. Everything here is
pure and takes linear time, as all of it is strangers' text that workers judge.
"""
