"""Rug pulls: descriptors of tools that change after a person accepted them, in cases of others and in mutations of ours."""
