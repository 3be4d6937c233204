"""The bot host: a separate process that holds models and answers many conversations at once.

See `candor host --help`.
"""
