"""From scores to what people and programs read: JSON, Markdown, tables, plots.

Everything here is a pure function of its arguments, and what it makes of committed files is the same
everywhere. No notebook library, no model and no database is reachable from here.
"""
