"""Formats of other evaluation tools."""
