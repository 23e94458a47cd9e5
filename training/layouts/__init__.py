"""Printed pages as HTML: one module per field, one function per layout family.

A family is a function of a Page that returns the HTML of the page's inside. The
registry FAMILIES holds them all by name, with the weight each has in the sample.
"""

FAMILIES = {}  # name: (function, weight, languages or None for any)


def family(weight=1, langs=None):
    """Register a layout family under its function's name."""

    def register(function):
        FAMILIES[function.__name__] = function, weight, langs
        return function

    return register
