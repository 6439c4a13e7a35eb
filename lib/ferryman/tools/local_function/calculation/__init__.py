"""Calculations: exact decimals, units and dates, without evaluating code.

A calculation is read by a grammar of its own, in time linear in its text; numbers are fractions, whose length is bounded.
Library: pint, whose table of units and conversions would be thousands of lines of ours.
"""
