import { declare, type OptionsOf } from '../command.ts';
import { noColor } from '../options.ts';

/** The shells for which kbuild has a script. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const completion = declare({
  name: 'completion',
  summary: 'Print a script with which a shell completes command lines of kbuild',
  details:
    'For bash (4 or newer), zsh, fish and PowerShell. It proposes commands, options and their values, and names of the inventory that the line names (`-i FILE`, `$KBUILD_INVENTORY`, `./inventory.yaml`). It contacts no host and runs no command of the inventory. See [Completion](#completion).',
  onHosts: 'nothing',
  operand: { name: '<shell>', summary: 'bash, zsh, fish or powershell', completes: SHELLS },
  options: [noColor],
  examples: [
    'kbuild completion bash > /etc/bash_completion.d/kbuild',
    'kbuild completion zsh > "${fpath[1]}/_kbuild"',
    'kbuild completion fish > ~/.config/fish/completions/kbuild.fish',
    'kbuild completion powershell >> $PROFILE',
  ],
});

/** The values of its options. */
export type CompletionOptions = OptionsOf<typeof completion>;
