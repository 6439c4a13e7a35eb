"""The peers, each in the environment of its name: the same conversation, with the same tool, as its documentation shows it."""
