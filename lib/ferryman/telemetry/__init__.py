"""Telemetry: spans in the GenAI conventions of OpenTelemetry, and log lines that name the trace they belong to.

Spans are always made, so that a trace has an id from the API to the tool; they are only sent where an OTLP endpoint is set.
What the model or an upstream said is in none of them unless it is asked for, and then in its scanned form.
An exception's text is in none of them ever: it may hold what was sent.
"""
