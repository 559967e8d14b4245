import { stringify } from 'yaml';
import type { Check } from '../../checks/check.ts';
import { networkPlugins } from '../../components/network-plugins/index.ts';
import type { ExitCodePage } from '../../exit-codes.ts';
import type { Setting } from '../../inventory/settings.ts';
import { firstSentence, type Explanation } from './explanation.ts';

/** Pages about settings, beside their reference; the longest path that a setting begins with counts. */
const PAGES: Readonly<Record<string, string>> = {
  'kubernetes.version': 'docs/upgrade.md',
  'kubernetes.via': 'docs/upgrade.md',
  'kubernetes.endpoint': 'docs/topologies.md#the-endpoint-the-address-of-the-api-servers',
  'kubernetes.endpointInHosts': 'docs/topologies.md#the-endpoint-the-address-of-the-api-servers',
  'network.windows': 'docs/windows.md#networks-compared',
  'runtime.version': 'docs/changing-a-cluster.md#the-runtimes-version',
  etcd: 'docs/topologies.md#etcd-on-hosts-of-its-own-external-built-by-kbuild',
  'etcd.endpoints': 'docs/topologies.md#an-etcd-of-your-own-external',
  certificates: 'docs/operations.md#certificates',
  'certificates.ca': 'docs/topologies.md#a-ca-whose-key-stays-elsewhere',
  'certificates.etcdCa': 'docs/topologies.md#a-ca-whose-key-stays-elsewhere',
  'certificates.frontProxyCa': 'docs/topologies.md#a-ca-whose-key-stays-elsewhere',
  'certificates.distribution': 'docs/topologies.md#the-certificates-that-control-planes-share',
  loadBalancer: 'docs/topologies.md#the-endpoint-the-address-of-the-api-servers',
  firewall: 'docs/security.md#firewalls',
  files: 'docs/security.md#files-that-kbuild-writes-on-a-host',
  hooks: 'docs/operations.md#hooks',
  kubelet: 'docs/changing-a-cluster.md#settings-that-you-edit-later',
  sysctls: 'docs/changing-a-cluster.md#settings-that-you-edit-later',
  roles: 'docs/changing-a-cluster.md#settings-that-you-edit-later',
  groups: 'docs/changing-a-cluster.md#settings-that-you-edit-later',
  kubeadm: 'docs/changing-a-cluster.md#settings-that-you-edit-later',
  ssh: 'docs/security.md#what-kbuild-trusts',
  windows: 'docs/windows.md',
  ignoreChecks: 'docs/checks.md',
  'hosts[].role': 'docs/topologies.md',
  'hosts[].ssh': 'docs/security.md#what-kbuild-trusts',
  'hosts[].windows': 'docs/windows.md',
};

function pagesOf(path: string): readonly string[] {
  const page = Object.keys(PAGES)
    .filter((prefix) => path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`))
    .toSorted((a, b) => b.length - a.length)[0];
  const [section] = path.split(/[.[]/);
  return [`docs/inventory.md#${section!.toLowerCase()}`, ...(page === undefined ? [] : [PAGES[page]!])];
}

/** Settings whose values are components, and the components. */
const COMPONENTS: Readonly<Record<string, readonly { readonly name: string; readonly isSupported?: boolean }[]>> = {
  'network.plugin': networkPlugins,
};

/** The allowed values; of components, also whether kbuild supports them. */
const valuesOf = ({ path, allowed, default: preset }: Setting): Explanation['values'] =>
  allowed.map((value) => {
    const component = COMPONENTS[path]?.find(({ name }) => name === value);
    const notes = [value === preset ? 'the default' : '', component?.isSupported === false ? 'not supported yet' : ''];
    return { value, note: notes.filter((note) => note !== '').join(', ') };
  });

/** A value below the names of its path, e.g. `{ hosts: [{ labels: … }] }`. */
export function placed(path: string, value: unknown): unknown {
  const [, name = '', list, rest] = /^([^.[]+)(\[\])?(?:\.(.*))?$/s.exec(path) ?? [];
  const inner = rest === undefined ? value : placed(rest, value);
  return { [name === 'NAME' ? 'gpu' : name]: list === undefined ? inner : [inner] };
}

/** A setting, from the schema of the inventory. */
export function settingExplained(setting: Setting): Explanation {
  const { path, meaning, type, isRequired, allowed, default: preset, examples, inside } = setting;
  return {
    kind: 'setting',
    name: path,
    title: '',
    why: meaning,
    type,
    required: isRequired,
    ...(preset === undefined ? {} : { default: preset }),
    ...(allowed.length === 0 ? {} : { values: valuesOf(setting) ?? [] }),
    ...(examples.length === 0 ? {} : { example: stringify(placed(path, examples[0])) }),
    ...(inside.size === 0
      ? {}
      : { inside: [...inside].map(([name, one]) => ({ name, summary: firstSentence(one.meaning) })) }),
    more: pagesOf(path),
  };
}

/** A preflight check, from its own texts. */
export const checkExplained = ({ name, title, why, severities }: Check): Explanation => ({
  kind: 'check',
  name,
  title: `${title} (else: ${[...severities, 'unknown'].join(' or ')})`,
  why,
  example: `kbuild check --ignore-check ${name}`,
  more: [`docs/checks.md#${name}`],
});

/** An exit code, from the table of exit codes. */
export const exitExplained = ({ code, title, why, remedy }: ExitCodePage): Explanation => ({
  kind: 'exit',
  name: String(code),
  title,
  why,
  remedy,
  more: ['docs/cli.md#exit-codes'],
});
