"""The language server: findings, fixes and pages of rules in editors.

``checker`` lints in a separate process, so that a crash of the linter spares the server. ``stale_findings`` carries
findings over an edit. ``documents`` represents the editor's documents. ``replies`` converts findings to the protocol.
``language_server`` answers the editor.
"""
