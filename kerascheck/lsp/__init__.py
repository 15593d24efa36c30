"""The language server: findings, fixes and pages of rules in editors.

``checker`` is a process that lints, so that nothing that a program does to the linter reaches the server; ``documents``
knows what the editor holds; ``replies`` turns findings into what the protocol wants; ``language_server`` answers the editor.
"""
