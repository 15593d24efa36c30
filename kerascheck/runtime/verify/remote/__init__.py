"""``verify --on``: the script is measured on another machine, and judged and reported here.

The linting, the repairs and the reports stay on this side. The other side gets the project, the texts of the variants
and the code of kerascheck, of which it needs the standard library alone.
"""
