"""``footplate completion``."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}
_BEFORE = {"bash": "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}  # gs:// is one word\n"}
"""What the script of a shell needs besides."""

_INSTEAD = {"fish": ('string split ","', 'string split --max 1 ","')}
"""What click's script of a shell has wrong, and what is right: summaries have commas in them."""


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the tab completion of a shell.

    \b
    bash:  footplate completion bash > ~/.local/share/bash-completion/completions/footplate
    zsh:   footplate completion zsh > ~/.zfunc/_footplate
    fish:  footplate completion fish > ~/.config/fish/completions/footplate.fish

    The folder has to be there. In zsh it has to be in fpath: put fpath=(~/.zfunc $fpath) before
    compinit in ~/.zshrc. A shell that is started then completes.
    """
    complete = _SHELLS[shell](ctx.find_root().command, {}, "footplate", "_FOOTPLATE_COMPLETE")
    # Not .source(): for bash that starts one to learn its version, also where there is none.
    script = complete.source_template % complete.source_vars()
    click.echo(_BEFORE.get(shell, "") + script.replace(*_INSTEAD.get(shell, ("", ""))))
