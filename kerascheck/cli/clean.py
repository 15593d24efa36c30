"""The command ``clean``: remove the cache of a project."""

from __future__ import annotations

import click

from kerascheck.cli import completers, terminal
from kerascheck.cli.options import cache_option


@click.command(short_help="Remove the results that are kept for the next run.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completers.path)
@cache_option("The folder that results were kept in.  [.kerascheck/cache of the project]")
def clean(paths: tuple[str, ...], cache_dir: str | None) -> int:
    """Remove the results that checking PATH ('.' if none is named) has kept; what 'verify' measured stays."""
    from kerascheck.cache.folder import Folder, folder_for

    folder = folder_for(paths or (".",), cache_dir or None)
    try:
        size = Folder(folder).remove() if folder is not None else 0
    except OSError as problem:
        raise click.ClickException(f"{problem.filename}: cannot be removed: {problem.strerror}") from None
    kept = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
    click.echo(f"Removed {kept} from {terminal.escaped(folder or '')}." if size else "Nothing is kept.")
    return 0
