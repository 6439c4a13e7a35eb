"""HTTP values: requests and responses, URLs, hosts, addresses, identity headers."""
