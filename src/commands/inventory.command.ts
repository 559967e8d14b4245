import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  acceptNewHostKeys,
  codeQuality,
  everywhere,
  json,
  list,
  noColor,
  option,
  parsedOption,
  quiet,
} from '../session/options.ts';

export const explain = declare({
  name: 'explain',
  summary: 'Explain a setting of the inventory, a check, a refusal or an exit code',
  details:
    'Type, default, allowed values, an example, what it is for, and where to read more, from the same source as ' +
    'these pages. `explain`, `explain check`, `explain refusal` and `explain exit` alone list what there is. ' +
    'Reads no inventory.',
  onHosts: 'nothing',
  operand: {
    name: '[topic...]',
    summary: 'a setting, "check NAME", "refusal NAME" or "exit CODE"',
    completes: 'topics',
  },
  options: [json, noColor],
  examples: [
    'kbuild explain network.podSubnet',
    'kbuild explain hosts[].labels',
    'kbuild explain check clock-skew',
    'kbuild explain refusal other-cluster',
    'kbuild explain exit 7',
  ],
});

/** The values of its options. */
export type ExplainOptions = OptionsOf<typeof explain>;

export const init = declare({
  name: 'init',
  printsData: true,
  summary: 'Write a commented inventory, to standard output or to a new file',
  details:
    'Asks a few questions, and holds each answer against the rules of inventories at once. It asks none when one of ' +
    'its own flags is given, or where stdin is no terminal. Hosts are written as ssh knows them: ' +
    '`[name=][user@]address[:port][/internalAddress]`, the address may be a name of `~/.ssh/config`. With `--hosts`, ' +
    'or if you say yes, it connects to them and reads their addresses and networks. It never overwrites a file, and ' +
    'writes nothing before the end. Beside a new file it writes `inventory.schema.json` for [editors](#editors).',
  onHosts: 'reads',
  operand: { ...inventoryOperand, summary: 'the new file, or - for standard output' },
  options: [
    ...everywhere,
    option('--name <name>', { summary: 'name of the cluster' }),
    option('--kubernetes <version>', { summary: 'exact version, e.g. 1.36.3' }),
    parsedOption('--hosts <hosts>', list, {
      summary: 'hosts as ssh knows them, with commas; three are control planes if there is an endpoint, else one',
    }),
    option('--no-ssh', { summary: 'do not connect to the hosts of --hosts' }),
    acceptNewHostKeys,
    parsedOption('--control-plane <hosts>', list, { summary: '[name=]address[/internalAddress], several with commas' }),
    parsedOption('--worker <hosts>', list, { summary: 'the same for workers' }),
    option('--endpoint <host:port>', { summary: 'address of the API: your own load balancer or DNS name' }),
    option('--virtual-address <address>', {
      summary: 'an unused address that kbuild moves between the control planes (keepalived)',
    }),
    option('--families <families>', {
      summary:
        'addresses of pods and Services: ipv4, ipv6, or both, the primary one first (default ipv4, if hosts have it)',
      completes: ['ipv4', 'ipv6', 'ipv4,ipv6', 'ipv6,ipv4'],
    }),
    option('--user <name>', { summary: 'user for SSH' }),
    option('--identity-file <path>', { summary: 'private key for SSH' }),
  ],
  examples: [
    'kbuild init inventory.yaml',
    'kbuild init --hosts root@10.0.0.11,root@10.0.0.21,root@10.0.0.22 > inventory.yaml',
    'kbuild init prod.yaml --control-plane 10.0.0.11 --worker 10.0.0.21,w2=10.0.0.22',
  ],
});

/** The values of its options. */
export type InitOptions = OptionsOf<typeof init>;

export const schema = declare({
  name: 'schema',
  printsData: true,
  summary: 'Print the JSON Schema of the inventory, or of a JSON document of kbuild',
  details:
    'Editors complete an inventory by it: see [Editors](#editors). The schemas of documents are in ' +
    '[schemas/](schemas).',
  onHosts: 'nothing',
  operand: {
    name: '[document]',
    summary: 'a document that a command prints with --json, e.g. status; without it, the inventory',
    completes: 'documents',
  },
  options: [
    ...everywhere,
    option('--draft <draft>', {
      summary: 'the dialect of JSON Schema: 2020-12 (default), or 7 for older editors',
      completes: ['2020-12', '7'],
    }),
    option('--document <name>', {
      summary: 'the same as the operand',
      completes: 'documents',
    }),
  ],
  examples: [
    'kbuild schema > inventory.schema.json',
    'kbuild schema --draft 7 > inventory.schema.json',
    'kbuild schema status',
  ],
});

/** The values of its options. */
export type SchemaOptions = OptionsOf<typeof schema>;

export const validate = declare({
  name: 'validate',
  summary: 'Report every problem of the inventory with its line',
  details:
    'Prints each problem as `file:line:column`. Runs no command and fetches no URL. Overrides of kubeadm, ' +
    'kubelets and kube-proxy are held against [what these ' +
    'know](changing-a-cluster.md#what-overrides-are-held-against).',
  onHosts: 'nothing',
  operand: inventoryOperand,
  options: [
    ...everywhere,
    json,
    quiet,
    codeQuality,
    option('--print', { summary: 'print what kubeadm and each kubelet of a Linux host will get, as YAML' }),
  ],
  examples: ['kbuild validate inventory.yaml', 'kbuild validate inventory.yaml --print'],
});

/** The values of its options. */
export type ValidateOptions = OptionsOf<typeof validate>;
