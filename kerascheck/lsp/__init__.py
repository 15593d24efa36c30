"""The language server: findings, fixes and pages of rules in editors.

``checker`` lints in a process of its own, so that a crash of the linter does not reach the server. ``stale_findings`` carries
findings over an edit. ``documents`` represents the editor's documents, ``replies`` converts findings to the protocol, and
``language_server`` answers the editor.
"""
