"""Operations: what an operator does to a deployment: deploy, check, examine, rotate keys."""
