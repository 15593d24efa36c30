"""The command ``completion``: scripts for bash, zsh and fish.

They extend those of click: the command ``check`` may be omitted, and words may contain commas. The scripts get completions from
``kerascheck`` itself, so they need no update with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from kerascheck.cli import COMPLETE_VARIABLE

if TYPE_CHECKING:
    _Base = ShellComplete
else:
    _Base = object

# The script of click offers either words or paths, not both.
_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response type value
    COMPREPLY=()
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" %(complete_var)s=bash_complete "$1" 2>/dev/null)
    while IFS=, read -r type value; do
        case $type in
            plain) COMPREPLY+=("$value") ;;
            dir) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2") ;;
            file) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2") ;;
        esac
    done <<< "$response"
}
complete -o nosort -o bashdefault -o default -F %(complete_func)s %(prog_name)s
"""

# The script of click splits completions at commas.
_FISH = """\
function %(complete_func)s
    for completion in (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -ct) \
%(prog_name)s 2>/dev/null)
        set -l parts (string split -m 1 -- , $completion)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _CheckUnnamed(_Base):
    """Completes ``kerascheck PATH...`` like ``kerascheck check PATH...``."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        if args:
            return super().get_completions(args, incomplete)
        commands = [] if "=" in incomplete else super().get_completions([], incomplete)
        offered = [*commands, *super().get_completions(["check"], incomplete)]
        return list({(item.type, item.value): item for item in reversed(offered)}.values())[::-1]


class _Bash(_CheckUnnamed, BashComplete):
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        # bash splits --select=KC1 into three words.
        words, incomplete = super().get_completion_args()
        return [word for word in words if word != "="], incomplete


class _WholeWords(_Base):
    """For shells that treat ``--select=KC1`` as one word."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        offered = super().get_completions(args, incomplete)
        option, equals, _ = incomplete.partition("=")
        if not (equals and option.startswith("--")):
            return offered
        return [
            CompletionItem(option + equals + item.value, item.type, item.help) if item.type == "plain" else item
            for item in offered
        ]


class _Zsh(_WholeWords, _CheckUnnamed, ZshComplete):
    pass


class _Fish(_WholeWords, _CheckUnnamed, FishComplete):
    source_template = _FISH


_SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


@click.command(
    "completion",
    short_help="Print the completion script for bash, zsh or fish.",
    epilog='bash: eval "$(kerascheck completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc, behind compinit;'
    " fish: kerascheck completion fish > ~/.config/fish/completions/kerascheck.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> int:
    """Print the script by which a shell completes commands, options, rules and paths."""
    click.echo(_script(click.get_current_context().find_root().command, shell), nl=False)
    return 0


def _script(command: click.Command, shell: str) -> str:
    """The script that makes a shell complete the words of ``command``."""
    return _SHELLS[shell](command, {}, "kerascheck", COMPLETE_VARIABLE).source()


def register() -> None:
    """Register the scripts, so that click answers their requests."""
    for name, each in _SHELLS.items():
        add_completion_class(each, name)
