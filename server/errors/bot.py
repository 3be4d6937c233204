"""Errors of registered bots."""

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
    """A registered bot cannot be changed like this."""

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
    """A name that is invalid for a registered bot, or an address that is invalid for a replica."""

    code = "invalid_request"
    status = 422
    hint = "Correct what is named and send it again."


class ReplicaExists(BotRefused):
    """The bot has a replica at that address already."""

    code = "replica_exists"
    hint = "No action needed: the bot uses this replica already."


class LastReplica(BotRefused):
    """A bot must have at least one replica."""

    code = "last_replica"
    hint = "Add another replica first, or disable or delete the bot."


class DialsIn(BotRefused):
    """The bot's replicas are bot hosts that connect by themselves, and are not added or removed here."""

    code = "bot_dials_in"
    hint = "Start another bot host under this name, or stop one."


class BotsUnfit(CandorError):
    """A study's bots have not passed the checks for workers."""

    code = "bots_unfit"
    status = 409
    hint = "Fix the bots and check them again, or open the run all the same with --despite-failing-bots."


class NoModeration(CandorError):
    """A study requires a moderation service, and the server has none."""

    code = "no_moderation"
    status = 409
    hint = (
        "Set CANDOR_MODERATION_URL for the server and for this command, or set `moderation: words` in the "
        "study."
    )
