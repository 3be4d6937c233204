"""The bot host: a process of its own that holds models and answers many conversations at once.

`python -m bots.host --help` says how to start one.
"""
