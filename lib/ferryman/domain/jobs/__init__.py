"""Jobs: long work on what an owner has, done in slices that a crash at any line leaves whole."""
