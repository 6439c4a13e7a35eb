"""The same random steps on several Firestores, whose answers must agree."""
