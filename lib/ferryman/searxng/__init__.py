"""The client of SearXNG, the search engine over search engines, at the operator's endpoint (S4-42)."""
