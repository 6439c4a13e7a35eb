"""Tools for the tests of the search."""

from __future__ import annotations

from ferryman.selection import ToolIndex, ToolText, read_definition, search

DESCRIPTIONS = {
    "get_weather": "Get the weather forecast of a city on a date.",
    "send_email": "Send an email to a person.",
    "search_flights": "Find flights between two airports.",
    "book_hotel": "Reserve a room in a hotel.",
    "convert_currency": "Convert an amount of money from one currency to another.",
    "createRefund": "Refund a payment of a customer.",
    "list_invoices": "List the invoices of a customer.",
}


def make_tool(name: str, description: str = "", *parameters: str, group: str = "") -> ToolText:
    """Return a tool with string parameters."""
    schema = {"type": "object", "properties": {parameter: {"type": "string"} for parameter in parameters}}
    return read_definition(name, description, schema, group=group)


TOOLS = [make_tool(name, description) for name, description in DESCRIPTIONS.items()]
INDEX = ToolIndex(TOOLS)


def find(text: str, limit: int = 5, *, index: ToolIndex = INDEX) -> list[str]:
    """Return the names of the tools found."""
    return [index.tools[number].name for number in search(index, text, limit)]
