"""Billing: what a model call costs, from one dated table of prices; amounts are Decimals and credits are worth $0.001."""
