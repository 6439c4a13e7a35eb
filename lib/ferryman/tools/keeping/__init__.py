"""Results that are longer than a model is shown, kept as files of their executions: in one way, whichever function answered.

`storing` writes the file and names it in the result; `room` reserves its bytes, `expiry` deletes it. What a function without
keys says is scanned and kept before its call is settled (`tools/keyless/keeping.py`). A function that holds keys scans what it
receives itself (`tools/overflow.py`), stores it with the result, and `answered` keeps it.
"""
