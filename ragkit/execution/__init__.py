"""Sweeps: one executed notebook per configuration, and a report with verdicts.

`grid` reads what varies, `run` executes what is missing in an executor (`executors`, `cluster`), `judge` compares
and tests, `sweep` does all of it in order.
"""
