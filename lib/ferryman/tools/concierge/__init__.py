"""Local functions that keep something for a user: their `db` is a unit of work over the user's own documents (S2-28)."""
