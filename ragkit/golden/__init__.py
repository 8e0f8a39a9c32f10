"""Saved results of any system, scored against a small reviewed set of golden cases.

::

    cases.read_cases(path)                        what is expected
    fixtures.read_fixtures(folder, cases)         what a system returned, one ranking per case
    levels.judge(case, ranking, ...)              strong, medium, weak or miss, and the evidence for it
    replay.replay(...)                            all cases -> the report's data
    changes.compare(old, new)                     which cases moved up or down
    record.record(...)                            a retriever's answers as a fixture

Needs no model, no database, no network, no numpy; pydantic only to say what is wrong with a case.
"""
