"""A simulated Prolific for tests and for `candor demo prolific`, because Prolific has no test system.

It follows Prolific's specification, keeps state, and fails on demand. Nobody is paid.
"""
