"""Credits: the double-entry ledger, the balance of a month, the statement."""
