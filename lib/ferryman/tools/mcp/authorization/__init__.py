"""Authorization of an MCP server of others: discovery, registration, consent and renewal, each request through the gate.

Discovery follows RFC 9728, then RFC 8414 and OpenID Connect Discovery; names are compared character by character, and what
was found is pinned with the consent (RFC 7636 with S256, RFC 8707, RFC 9207), so that nothing a server says later leads a
code or a token elsewhere. A client is what the person registered, our metadata document, or one that is registered for this
consent (RFC 7591), in this order. Tokens are redeemed and renewed by `tools/tokens`, as those of every other service.
"""
