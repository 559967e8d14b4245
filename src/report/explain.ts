import { stringify } from 'yaml';
import type { Check } from '../engine/check.ts';
import type { ExitCodePage } from '../exit-codes.ts';
import type { Setting } from '../inventory/file/settings.ts';
import type { NamedRefusal } from '../refusals/refusals.ts';
import { docsPage } from '../versions.ts';
import { table } from './text.ts';

/** What `kbuild explain` says about one thing, also as JSON. Texts are Markdown. */
export interface Explanation {
  readonly kind: 'setting' | 'check' | 'refusal' | 'exit';
  /** `network.podSubnet`, `clock-skew`, `other-cluster`, `7`. */
  readonly name: string;
  /** A definition in one line; `why` may begin with it. */
  readonly title: string;
  /** Its purpose, or why it exists. */
  readonly why: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly default?: unknown;
  /** The values that it takes, each with its meaning. */
  readonly values?: readonly { readonly value: string; readonly note: string }[];
  /** A piece of an inventory, or a command line. */
  readonly example?: string;
  /** Settings in it. */
  readonly inside?: readonly { readonly name: string; readonly summary: string }[];
  /** Pages of the documentation. */
  readonly more: readonly string[];
}

/** Things that can be explained, in short. */
export interface Topics {
  readonly title: string;
  readonly items: readonly { readonly name: string; readonly summary: string }[];
}

/** Of lines where there is no narrower terminal. */
const WIDTH = 100;

/** The text in lines of at most `width` characters, where its words are no longer. */
function wrappedTo(width: number, text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}${line}`).join('\n');
}

/** The first sentence of a text, whole: a terminal wraps it, and a pipe leads to a program that looks for words. */
export const firstSentence = (text: string): string => text.split(/\.(?=\s+[^a-z])/)[0]!.replace(/\.$/, '');

const rows = (items: Topics['items']): string => table(items.map(({ name, summary }) => [name, summary]));

const part = (title: string, text: string): readonly string[] => ['', title, text];

/** The facts about a setting, one a line. */
function facts({ type, required, default: preset, values }: Explanation): readonly string[] {
  return [
    ...(type === undefined ? [] : [`  takes    ${type.replaceAll('`', '')}`]),
    ...(preset === undefined ? [] : [`  default  ${JSON.stringify(preset)}`]),
    ...(required === true ? ['  required'] : []),
    ...(values ?? []).filter(({ note }) => note !== '').map(({ value, note }) => `  ${value}: ${note}`),
  ];
}

/** Links as a terminal shows them: a page of docs/ by its address on the web. */
const withoutMarkup = (markdown: string): string =>
  markdown.replaceAll(/\[([^[\]]+)\]\(([^()\s]+)\)/g, (_, words: string, link: string) => {
    const address = /^[a-z]+:/.test(link) ? link : docsPage(link);
    return words.endsWith('.md') ? address : `${words} (${address})`;
  });

/** An explanation for people, for a terminal of that many columns. */
export function explanationText(explanation: Explanation, columns = WIDTH): string {
  const wrapped = (text: string): string => wrappedTo(Math.min(columns, WIDTH), text, '  ');
  const { kind, name, title, why, remedy, example, inside = [], more } = explanation;
  const known = facts(explanation);
  return [
    kind === 'exit' ? `exit ${name}` : name,
    ...(why.startsWith(title) ? [] : [wrapped(title)]),
    ...(known.length === 0 ? [] : ['', ...known]),
    '',
    wrapped(withoutMarkup(why)),
    ...(remedy === undefined ? [] : part('what to do', wrapped(remedy))),
    ...(example === undefined ? [] : part('example', example.trimEnd().replaceAll(/^/gm, '  '))),
    ...(inside.length === 0 ? [] : part('settings in it', rows(inside))),
    ...part('more', more.map((page) => `  ${page}`).join('\n')),
    '',
  ].join('\n');
}

/** Lists of topics for people. */
export const topicsText = (lists: readonly Topics[]): string =>
  `${lists.map(({ title, items }) => `${title}\n${rows(items)}`).join('\n\n')}\n`;

/** Pages about settings, beside their reference; the longest path that a setting begins with counts. */
const PAGES: Readonly<Record<string, string>> = {
  'kubernetes.version': 'upgrade.md',
  'kubernetes.via': 'upgrade.md',
  'kubernetes.endpoint': 'topologies.md#the-endpoint-the-address-of-the-api-servers',
  'kubernetes.endpointInHosts': 'topologies.md#the-endpoint-the-address-of-the-api-servers',
  'network.windows': 'windows.md#networks-compared',
  'runtime.version': 'changing-a-cluster.md#the-runtimes-version',
  etcd: 'topologies.md#etcd-on-hosts-of-its-own-external-built-by-kbuild',
  'etcd.endpoints': 'topologies.md#an-etcd-of-your-own-external',
  certificates: 'operations.md#certificates',
  'certificates.ca': 'topologies.md#a-ca-whose-key-stays-elsewhere',
  'certificates.etcdCa': 'topologies.md#a-ca-whose-key-stays-elsewhere',
  'certificates.frontProxyCa': 'topologies.md#a-ca-whose-key-stays-elsewhere',
  'certificates.distribution': 'topologies.md#the-certificates-that-control-planes-share',
  loadBalancer: 'topologies.md#the-endpoint-the-address-of-the-api-servers',
  firewall: 'security.md#firewalls',
  files: 'security.md#files-that-kbuild-writes-on-a-host',
  hooks: 'operations.md#hooks',
  kubelet: 'changing-a-cluster.md#settings-that-you-edit-later',
  sysctls: 'changing-a-cluster.md#settings-that-you-edit-later',
  roles: 'changing-a-cluster.md#settings-that-you-edit-later',
  groups: 'changing-a-cluster.md#settings-that-you-edit-later',
  kubeadm: 'changing-a-cluster.md#settings-that-you-edit-later',
  ssh: 'security.md#what-kbuild-trusts',
  windows: 'windows.md',
  ignoreChecks: 'checks.md',
  'hosts[].role': 'topologies.md',
  'hosts[].ssh': 'security.md#what-kbuild-trusts',
  'hosts[].windows': 'windows.md',
};

function pagesOf(path: string): readonly string[] {
  const page = Object.keys(PAGES)
    .filter((prefix) => path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`))
    .toSorted((a, b) => b.length - a.length)[0];
  const [section] = path.split(/[.[]/);
  return [`inventory.md#${section!.toLowerCase()}`, ...(page === undefined ? [] : [PAGES[page]!])].map(docsPage);
}

/** The allowed values. */
const valuesOf = ({ allowed, default: preset }: Setting): Explanation['values'] =>
  allowed.map((value) => ({ value, note: value === preset ? 'the default' : '' }));

/** A value below the names of its path, e.g. `{ hosts: [{ labels: … }] }`. */
function placed(path: string, value: unknown): unknown {
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
    title: firstSentence(meaning),
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
  more: [docsPage(`checks.md#${name}`)],
});

/** A refusal, from its own page. */
export const refusalExplained = ({ name, title, why }: NamedRefusal): Explanation => ({
  kind: 'refusal',
  name,
  title: `kbuild refuses when ${title} (exit 7)`,
  why,
  more: [docsPage(`refusals.md#${name}`), docsPage('cli.md#exit-codes')],
});

/** An exit code, from the table of exit codes. */
export const exitExplained = ({ code, title, why, remedy }: ExitCodePage): Explanation => ({
  kind: 'exit',
  name: String(code),
  title,
  why,
  remedy,
  more: [docsPage('cli.md#exit-codes')],
});
