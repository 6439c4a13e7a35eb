"""Where the URLs that a model writes come from (prevents exfiltration by URL): a made-up one can hold any secret."""
