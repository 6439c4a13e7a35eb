"""Jobs at work: one delivery at a time, in slices, resumable at every line."""
