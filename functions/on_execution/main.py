"""The Firestore trigger: a created execution document is put into the queue."""

from ferryman.serving import trigger

main = trigger.serve()
