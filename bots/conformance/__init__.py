"""Is a bot fit for workers? It is asked a few scripted conversations, and what it says is judged.

`script` is what it is asked, `asking` asks, `measures` counts, `findings` judges, `report` is the result,
`table` shows it. Only `asking` does anything but compute.
"""
