import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import { connecting, everywhere, noColor, option, quiet, usual } from '../session/options.ts';

/** The shells for which kbuild has a script. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const completion = declare({
  name: 'completion',
  printsData: true,
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

export const kubeconfig = declare({
  name: 'kubeconfig',
  printsData: true,
  summary: 'Print an admin kubeconfig, or merge it into a file',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...everywhere,
    quiet,
    ...connecting,
    option('--merge <path>', { summary: 'merge it into this file instead of printing it' }),
  ],
  examples: ['kbuild kubeconfig > admin.conf', 'kbuild kubeconfig --merge ~/.kube/config'],
});

/** The values of its options. */
export type KubeconfigOptions = OptionsOf<typeof kubeconfig>;

export const unlock = declare({
  name: 'unlock',
  summary: 'Show the holders of the locks, or free the locks',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, option('--force', { summary: 'free the locks' })],
  examples: ['kbuild unlock', 'kbuild unlock --force'],
});

/** The values of its options. */
export type UnlockOptions = OptionsOf<typeof unlock>;
