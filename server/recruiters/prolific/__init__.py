"""Client of Prolific's API for researchers; entry point: `client`.

Amounts are whole cents of the study's currency; decimals are used only where Prolific needs them.
Sources: Prolific's API reference, and its OpenAPI specification of 2026-07-20.
"""
