"""Flow policy: which calls a person has to agree to, because untrusted text may have decided where their effect goes."""
