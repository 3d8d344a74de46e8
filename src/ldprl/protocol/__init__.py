"""What client and server agree on: the deployment, the messages, and what a report may hold.

The user's side imports this, so it needs numpy and the standard library alone.
"""
