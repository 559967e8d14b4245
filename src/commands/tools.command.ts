import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  connecting,
  duration,
  everywhere,
  json,
  noColor,
  option,
  parsedOption,
  quiet,
  usual,
} from '../session/options.ts';

export const report = declare({
  name: 'report',
  summary: 'Show a run as one HTML file: result, timeline, failures, plan, cluster',
  details:
    'Made from the record that every run leaves in `$XDG_STATE_HOME/kbuild/<cluster>/runs`, so old and ' +
    'interrupted runs can be shown too. The file needs no network and can be sent to others ' +
    '([report.md](report.md)). kbuild overwrites only its own reports and traces.',
  onHosts: 'nothing',
  operand: {
    name: '[run]',
    summary:
      'id of a run or how it begins, a command for its newest run, or the path of a record (default: the newest run)',
    completes: 'runs',
  },
  options: [
    ...everywhere,
    json,
    quiet,
    option('--cluster <name>', { summary: 'name of the cluster, instead of an inventory', conflicts: 'inventory' }),
    option('-o, --output <file>', {
      summary: 'where to write the page, - for standard output (default ./<cluster>-<run>.html)',
    }),
    option('--trace <file>', {
      summary: 'write a Chrome trace, as ui.perfetto.dev opens it; the page too only with -o',
    }),
    option('--list', { summary: 'list the recorded runs of the cluster, the newest first', conflicts: 'output' }),
  ],
  examples: [
    'kbuild report',
    'kbuild report --list',
    'kbuild report up -o last-up.html',
    'kbuild report 20261121t1650 --cluster prod',
    'kbuild report --trace trace.json',
  ],
});

/** The values of its options. */
export type ReportOptions = OptionsOf<typeof report>;

/** The shells for which kbuild has a script. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const completion = declare({
  name: 'completion',
  printsData: true,
  summary: 'Print a script with which a shell completes command lines of kbuild',
  details:
    'For bash (4 or newer), zsh, fish and PowerShell. It proposes commands, options and their values, and names ' +
    'of the inventory that the line names (`-i FILE`, `$KBUILD_INVENTORY`, `./inventory.yaml`). It contacts no ' +
    'host and runs no command of the inventory. See [Completion](#completion).',
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

/** Both reach the API in the same way. */
const THROUGH_SSH =
  'Through the SSH connection of one control plane, for a machine that cannot reach the endpoint. The certificate of ' +
  'the administrator stays in memory of kbuild. See [operations](operations.md#the-api-through-ssh).';

export const kubectl = declare({
  name: 'kubectl',
  printsData: true,
  summary: 'Run kubectl against the cluster, through SSH',
  details:
    `${THROUGH_SSH} Input, output, signals and exit code are those of kubectl, also of exec and port-forward. ` +
    'Options that lead elsewhere (--kubeconfig, --server, --context, --cluster, --user) are refused.',
  onHosts: 'changes',
  operand: { name: '<arguments...>', summary: 'what kubectl gets, behind --' },
  options: [...everywhere, ...connecting],
  examples: ['kbuild kubectl -- get pods -A', 'kbuild kubectl -i prod.yaml -- exec -it web-0 -- sh'],
});

/** The values of its options. */
export type KubectlOptions = OptionsOf<typeof kubectl>;

export const proxy = declare({
  name: 'proxy',
  printsData: true,
  summary: 'Serve the API on this machine, through SSH, until Ctrl-C',
  details:
    `${THROUGH_SSH} Prints the line that leads kubectl and other clients there. ` +
    'Other users of the machine get 401.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...everywhere, quiet, ...connecting],
  examples: ['kbuild proxy', 'kbuild proxy prod.yaml'],
});

/** The values of its options. */
export type ProxyOptions = OptionsOf<typeof proxy>;

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

export const windowsSelftest = declare({
  name: 'selftest',
  summary: 'Test every connection to and from Windows pods; creates and deletes one namespace',
  details: 'Prints a table of pass, FAIL, limit and not tried (exit 5 with a FAIL). See [windows.md](windows.md).',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [
    ...usual,
    option('--os <system>', {
      completes: ['windows', 'linux'],
      summary: 'windows, or linux: the same connections on Linux nodes (default: windows)',
    }),
    option('--outside <host:port>', {
      summary: "what pods reach outside the cluster, best a name (default: the test image's registry)",
    }),
    parsedOption('--timeout <duration>', duration, { summary: 'how long the pods may take to run (default 20m)' }),
  ],
  examples: [
    'kbuild windows selftest',
    'kbuild windows selftest --os linux',
    'kbuild windows selftest --json | jq .rows',
  ],
});

/** The values of its options. */
export type WindowsSelftestOptions = OptionsOf<typeof windowsSelftest>;
