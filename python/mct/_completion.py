# SPDX-License-Identifier: Apache-2.0
"""Scripts that complete the command line of `mct` in a shell."""

from __future__ import annotations

import argparse

# `compgen` splits at spaces: no word that is completed has one.
_BASH = """\
_mct() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  case "${{COMP_WORDS[1]}} $before" in
{values}  esac
  if [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W '{commands}' -- "$word"))
  elif [[ $word == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{options}    esac
  fi
}}
complete -o default -F _mct mct
"""


def completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Returns the script that completes commands, options and the values that are known; file names elsewhere."""
    if shell == "fish":
        return _fish_script(parser)
    commands = commands_of(parser)
    values, options = [], []
    for name, command in commands.items():
        flags: list[str] = []
        for action in command._actions:
            flags += action.option_strings
            words, is_open = _known_values(name, action)
            generator = "-f -W" if is_open else "-W"
            reply = f"COMPREPLY=($(compgen {generator} '{' '.join(words)}' -- \"$word\"))"
            for flag in (action.option_strings or [name]) if words else []:
                values.append(f"    '{name} {flag}') {reply}; return ;;\n")
        options.append(f"      {name}) COMPREPLY=($(compgen -W '{' '.join(flags)}' -- \"$word\")) ;;\n")
    script = _BASH.format(commands=" ".join(commands), values="".join(values), options="".join(options))
    if shell == "zsh":
        return "#compdef mct\nautoload -U +X bashcompinit && bashcompinit\n" + script
    return script


def _fish_script(parser: argparse.ArgumentParser) -> str:
    lines = []
    for name, command in commands_of(parser).items():
        description = _fish_quoted(command.description or "")
        lines.append(f"complete -c mct -n __fish_use_subcommand -f -a {name} -d {description}")
        condition = f"-n '__fish_seen_subcommand_from {name}'"
        for action in command._actions:
            words, is_open = _known_values(name, action)
            parts = [f"complete -c mct {condition}"]
            parts += [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in action.option_strings]
            if action.option_strings and action.nargs != 0:
                parts.append("-r" if is_open or not words else "-x")
            if words:
                parts.append(f"-a {_fish_quoted(' '.join(words))}")
            if len(parts) > 1:
                lines.append(" ".join(parts))
    return "\n".join(lines) + "\n"


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _known_values(command: str, action: argparse.Action) -> tuple[list[str], bool]:
    """Returns the values that an argument may have, and whether it may be a file as well."""
    if action.choices:
        return [str(choice) for choice in action.choices], False
    if action.dest == "target" or (command, action.dest) == ("targets", "name"):
        from mct import _native

        return sorted(dict(_native.stock_targets())), True
    return [], False


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Returns the parsers of the commands, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
