"""Check whether a bot is fit for workers: hold a few scripted conversations, and judge its replies.

`check_language` reads the questions and patterns of a language, `script` draws conversations from them,
`asking` asks the bot, `measures` computes statistics, `findings` and `conduct` judge, `report` is the result
and prints it. Only `asking` has side effects.
"""
