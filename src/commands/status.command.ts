import { UsageError } from '../errors.ts';
import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import { duration, hosts, option, parsedOption, usual } from '../session/options.ts';

export const facts = declare({
  name: 'facts',
  printsData: true,
  summary: 'Print what kbuild observes on the hosts, as JSON',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [...usual, hosts],
  examples: ['kbuild facts --hosts cp1'],
});

/** The values of its options. */
export type FactsOptions = OptionsOf<typeof facts>;

/** Milliseconds between two observations. @throws UsageError */
function interval(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new UsageError('at least 1s');
  return ms;
}

export const status = declare({
  name: 'status',
  summary: 'Show the cluster: nodes, etcd, certificates, drift',
  details:
    'Also the endpoint and the conditions, cordons and taints of nodes. What the API tells is shown at once, and ' +
    'the rest when all hosts have answered. The last line says whether the cluster is healthy (exit 0) or not ' +
    '(exit 5).',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    option('--bundle <file>', { summary: 'write a support bundle (tar.gz, secrets masked)' }),
    option('-w, --watch', {
      summary: 'go on, and show what changed, until Ctrl-C',
      details:
        'Changes of nodes and system pods are shown at once, others when all hosts are observed again. ' +
        'On a terminal the cluster is drawn again with its changes marked; elsewhere a line follows for each ' +
        'change. With `--json` it prints one document a line, at the beginning and whenever something changed. ' +
        'What cannot be read for a moment is called unknown, not gone. Ends with 130.',
    }),
    parsedOption('--every <duration>', interval, {
      summary: 'with --watch: observe all hosts again after this time (default 30s, 5s where the API is not watched)',
    }),
    option('--no-hosts', {
      summary: 'ask the API and etcd through one control plane, and connect to no other host',
      details:
        'Quicker: nodes, API servers, etcd, and the certificates of that one host. Drift, and what only the other ' +
        'hosts know, is not observed; the last lines and `notObserved` of the JSON document say so.',
      conflicts: 'watch',
    }),
    option('--graph <format>', {
      summary: 'print the cluster as a picture instead; the format is mermaid',
      details:
        'Text that GitHub, GitLab and editors draw: control planes, etcd, balancers, workers by system and version.',
      conflicts: 'watch',
    }),
  ],
  examples: [
    'kbuild status',
    'kbuild status --json',
    'kbuild status --watch',
    'kbuild status --no-hosts',
    'kbuild status --graph mermaid > cluster.mmd',
  ],
});

/** The values of its options. */
export type StatusOptions = OptionsOf<typeof status>;
