"""The webhook tool as a function of its own, which sends alerts, too."""

from ferryman.serving import webhook

main = webhook.serve("webhook")
