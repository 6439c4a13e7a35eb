"""The application that the conformance suite asks: every tool, resource and prompt that it names, on the engine of `/mcp`.

What 2026-07-28 deprecates (logging, sampling, elicitation by requests of the server, resources/subscribe) is here alone,
through the seams that the engine has for every application.
"""
