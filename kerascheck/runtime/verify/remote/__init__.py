"""``verify --on``: measures the script on another machine; judges and reports here.

Linting, fixes and reports stay on this machine. The remote machine receives the project, the texts of the variants and
the code of kerascheck, which needs only the standard library there.
"""
