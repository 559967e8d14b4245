import { type Component, type RemovedInMinor, removedTables } from '../../src/upgrade/removed.value.ts';

const INTRODUCTION = `# What an upgrade removes

<!-- Generated from src/upgrade by "npm run docs:upgrade"; do not edit. -->

A component of Kubernetes does not start with a feature gate or a flag that it does not know, or with another value of a
gate that is locked. \`kbuild upgrade\` refuses (exit 7) while such a setting is in force, before it changes anything, and names
the place: the inventory, the ConfigMaps kubeadm-config and kubelet-config, patches of kubeadm, and the kubelet's files on each
host (kubeadm-flags.env, config.yaml, and names of flags in the administrator's file).

- kubeadm calls an upgrade successful while the controller manager or the scheduler crashes at such a flag or gate.
- What a table lists under a minor counts for every upgrade from an older minor to this or a newer one.
- Flags marked with \\* were deprecated before: the image of pause, and flags of cAdvisor that the kubelet had by mistake. kbuild
  takes them out of kubeadm-flags.env before it starts the newer kubelet.
- Objects of a beta API that is no longer served stay readable through its newer version. Objects of an alpha API do not: delete
  them before the upgrade. Manifests and clients that name the older version fail. \`--runtime-config\` must not name an API version of which nothing is left: kube-apiserver would not start.
- Not listed: alpha and beta defaults that changed, admission plugins, fields of configuration files, and flags whose
  names the sources put together when they run (\`--audit-log-batch-…\`, \`--audit-webhook-batch-…\`).

\`npm run tables:removed\` makes the tables from the Go modules of these versions; no other patch versions were compared.
The etcd of a minor is the one that kubeadm installs.
`;

const COMPONENTS: readonly Component[] = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'etcd',
];

/** Components that stand for a set of feature gates. */
const GATE_SETS: readonly (readonly [title: string, Component])[] = [
  ['Kubernetes', 'kubelet'],
  ['etcd', 'etcd'],
  ['kubeadm (`featureGates` of its ClusterConfiguration)', 'kubeadm'],
];

const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const item = (title: string, text: string): readonly string[] => (text === '' ? [] : [`- **${title}**: ${text}`]);

const flags = (table: RemovedInMinor, component: Component): string =>
  table
    .flags(component)
    .map(({ name, kbuildRemovesIt }) => `\`--${name}\`${kbuildRemovesIt ? '\\*' : ''}`)
    .join(', ');

function section(table: RemovedInMinor): string {
  const lines = [
    ...GATE_SETS.flatMap(([title, set]) => item(`Removed feature gates of ${title}`, codes(table.gates(set)))),
    ...GATE_SETS.flatMap(([title, set]) =>
      item(
        `Locked feature gates of ${title}`,
        codes(table.locked(set).map(({ name, value }) => `${name}=${String(value)}`)),
      ),
    ),
    ...COMPONENTS.flatMap((component) => item(`Removed flags of ${component}`, flags(table, component))),
    ...item('APIs no longer served', codes(table.apis)),
    ...item('API versions of which nothing is left', codes(table.groupVersions)),
  ];
  return `## Kubernetes ${table.minor}\n\n${lines.join('\n')}\n`;
}

const comparisons = [
  '| minor | Kubernetes | etcd |\n| --- | --- | --- |',
  ...removedTables().map(
    ({ minor, compared: { kubernetes, etcd } }) => `| ${minor} | ${kubernetes.join(' → ')} | ${etcd.join(' → ')} |`,
  ),
].join('\n');

/** docs/upgrade-removed.md. */
export const removedReference = (): string =>
  [INTRODUCTION, `${comparisons}\n`, ...removedTables().map(section)].join('\n');
