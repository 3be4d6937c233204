"""The bot host: a process of its own that holds models and answers many conversations at once.

`candor host --help` says how to start one.
"""
