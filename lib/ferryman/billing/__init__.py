"""Billing: prices of model calls from one dated table; amounts are Decimals, and a credit is worth $0.001."""
