"""Check whether a bot is fit for workers: hold a few scripted conversations, and judge its replies.

`script` draws conversations from the questions in a language, `measures` computes statistics of the answers,
`findings` and `conduct` judge them, `report` is the result and prints it. `check` asks the bot and runs the
rest.
"""
