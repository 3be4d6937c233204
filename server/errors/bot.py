"""Registered bots."""

from server.errors.error import CandorError
from server.errors.run import NotAvailable


class BotNotFound(NotAvailable):
    """No bot is registered by that name, or it has no such replica."""

    code = "bot_not_found"
    hint = "GET /api/desk/bots lists the bots that are registered, and their replicas."


class NotChecked(NotAvailable):
    """The registered bot has not been checked yet."""

    code = "not_checked"
    hint = "Start a check: POST to the same address."


class BotRefused(CandorError):
    """What a researcher wants with a registered bot cannot be done."""

    code = "bot_refused"
    status = 409


class BotExists(BotRefused):
    """A bot is registered by that name already."""

    code = "bot_exists"
    hint = "Choose another name, add a replica to the bot that is there, or delete it first."


class BotInUse(BotRefused):
    """An open run needs the bot."""

    code = "bot_in_use"
    hint = "Close these runs first; or disable the bot, and their workers get other systems."


class BotDisabled(BotRefused):
    """The bot is disabled."""

    code = "bot_disabled"
    hint = "Enable it first."


class BotUnusable(BotRefused):
    """The endpoint is well described, but this server cannot use it."""

    code = "bot_unusable"
    status = 422
    hint = "Set the environment variable where the server runs, and start the server again."


class BotInvalid(BotRefused):
    """A name that no registered bot can have, or an address that no replica can have."""

    code = "invalid_request"
    status = 422
    hint = "Correct what is named and send it again."


class ReplicaExists(BotRefused):
    """The bot has a replica at that address already."""

    code = "replica_exists"
    hint = "Nothing is to be done: it is asked already."


class LastReplica(BotRefused):
    """A bot keeps one replica at least."""

    code = "last_replica"
    hint = "Add another replica first, or disable or delete the bot."


class DialsIn(BotRefused):
    """The bot's replicas are the hosts that have dialled in: they come and go by themselves."""

    code = "bot_dials_in"
    hint = "Start another bot host under this name, or stop one."


class BotsUnfit(CandorError):
    """A study's bots have not shown that they are fit for workers."""

    code = "bots_unfit"
    status = 409
    hint = "Mend the bots and check them again; or open the run all the same with --despite-failing-bots."


class NoModeration(CandorError):
    """A study has its lines sent to a moderation service, and there is none."""

    code = "no_moderation"
    status = 409
    hint = (
        "Set CANDOR_MODERATION_URL for the server, and for this command; or have the study say "
        "`moderation: words`."
    )
