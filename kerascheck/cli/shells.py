"""Completion in shells: click's, where the command ``check`` need not be written, and words may hold commas.

The scripts ask ``kerascheck`` itself what to offer, so that they need not change when it does.
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

from kerascheck.cli.completion import VARIABLE

if TYPE_CHECKING:
    _Base = ShellComplete
else:
    _Base = object

# click's script offers either words or paths.
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

# click's script takes what stands behind a comma for something else.
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
    """``kerascheck PATH...`` is short for ``kerascheck check PATH...``."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        if args:
            return super().get_completions(args, incomplete)
        commands = [] if "=" in incomplete else super().get_completions([], incomplete)
        offered = [*commands, *super().get_completions(["check"], incomplete)]
        return list({(item.type, item.value): item for item in reversed(offered)}.values())[::-1]


class _Bash(_CheckUnnamed, BashComplete):
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        # bash parts --select=KC1 into three words.
        words, incomplete = super().get_completion_args()
        return [word for word in words if word != "="], incomplete


class _WholeWords(_Base):
    """For shells that take ``--select=KC1`` for one word."""

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


def script(command: click.Command, shell: str) -> str:
    """What a shell is to run, so that it completes the words of ``command``."""
    return _SHELLS[shell](command, {}, "kerascheck", VARIABLE).source()


def register() -> None:
    """Have click answer what those scripts ask."""
    for name, each in _SHELLS.items():
        add_completion_class(each, name)
