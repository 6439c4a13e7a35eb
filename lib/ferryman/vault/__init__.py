"""The vault: anyone may seal; only a holder of the private key may open."""
