"""How a bot can fail."""


class BotError(Exception):
    """A bot could not answer. Ask again, another replica first, until the deadline."""


class BotGone(BotError):
    """The bot answers nobody until somebody brings it back: asking again is of no use."""


class Declined(BotError):
    """The replica works, but has no usable reply to this chat now. Does not count against it."""
