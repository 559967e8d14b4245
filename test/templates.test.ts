/** A script says in its head whose functions it calls: `# uses: FILES`; the rest is given by the command that sends it. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { script } from '../src/templates.ts';
import { filesIn } from './tools/files-in.ts';

const folder = new URL('../templates/', import.meta.url);
const scripts = filesIn('templates', '.sh');
const textOf = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const headOf = (name: string): string => /^(?:#.*\n)+/.exec(textOf(name))?.[0] ?? '';
/** Its lines without comments. */
const codeOf = (name: string): string => textOf(name).replaceAll(/^\s*#.*$/gm, '');

const functionsIn = (name: string): readonly string[] =>
  [...codeOf(name).matchAll(/^\s*([a-z_]+)\(\) [{(]/gm)].map(([, called]) => called!);
const usesOf = (name: string): readonly string[] => /^# uses: (.+)$/m.exec(headOf(name))?.[1]?.split(' ') ?? [];

const RUNTIME = ['runtime/serving-runtime.sh', 'runtime/containerd.sh', 'runtime/crio.sh', 'runtime/docker.sh'];

/** What a command puts before its script by `using`: which file it is depends on the host, or the file has parameters. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  runtime: RUNTIME,
  'left-runtime': [...RUNTIME, 'runtime/runtime-left.sh'],
  etcd: [...RUNTIME, 'cluster/etcd-tools.sh'],
  'kubeadm-job': ['kubeadm/marker.sh', 'kubeadm/run-kubeadm.sh'],
  downloader: ['host/packages/debian/download.sh', 'host/packages/download-with-curl.sh'],
  rpm: ['host/packages/rpm/functions.sh'],
  dnf: ['host/packages/rhel/dnf4.sh', 'host/packages/rhel/dnf5.sh'],
};
const givenTo = (name: string): readonly string[] =>
  (/^# given: (.+)$/m.exec(headOf(name))?.[1]?.split(' ') ?? []).flatMap((what) => GIVEN[what] ?? [`unknown: ${what}`]);

/** Files of functions for other scripts. */
const libraries = new Set([...scripts.flatMap(usesOf), ...Object.values(GIVEN).flat()]);
const definitions = new Map<string, readonly string[]>();
for (const name of libraries)
  for (const called of functionsIn(name)) definitions.set(called, [...(definitions.get(called) ?? []), name]);

/** Functions of other files that a script calls: a word where a command begins. */
function callsOf(name: string): readonly string[] {
  const own = new Set(functionsIn(name));
  const words = codeOf(name).matchAll(
    /(?<=(?:^|[;&|(!{)]|\b(?:if|then|else|elif|do|while|until)\b)[ \t]*)\b([a-z_]+)(?=[ \t\n;)]|$)/gm,
  );
  return [...new Set([...words].map(([, word]) => word!))].filter((word) => definitions.has(word) && !own.has(word));
}

describe.each(scripts.filter((name) => !libraries.has(name)))('%s', (name) => {
  const own = new Set(functionsIn(name));
  const used = usesOf(name);
  const named = [...used, ...givenTo(name)];
  const called = new Set([name, ...used].flatMap(callsOf).filter((each) => !own.has(each)));

  test('names the file of each function that it and those call', () => {
    const missing = [...called].filter((each) => !definitions.get(each)!.some((file) => named.includes(file)));
    expect(missing.map((each) => `${each} (${definitions.get(each)!.join(', ')})`)).toEqual([]);
  });

  test('names no file that it does not need', () => {
    const all = new Set([...called, ...named.flatMap(callsOf)]);
    expect(used.filter((file) => !functionsIn(file).some((each) => all.has(each)))).toEqual([]);
  });
});

test('a script gets the functions that its head names, in that order, before its parameters', () => {
  const { script: text } = script('engine/drain-node.sh', { NODE: 'w1' });
  const places = ['\nworkloads() {', '\nkured() {', '\ncordon() {', '\nNODE=w1'].map((part) => text.indexOf(part));
  expect(places.filter((place) => place < 0)).toEqual([]);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(text).not.toContain('# uses:');
});

test('no script has kubectl download the schema of the API before it writes an object', () => {
  const writes = /(?:\$[A-Za-z]+|\bkube(?:ctl)?\b)[^\n|]* (?:apply|create|"\$verb")[^\n]* -f -/g;
  const commands = scripts.flatMap((name) => codeOf(name).match(writes) ?? []);
  expect(commands).toHaveLength(8);
  expect(commands.filter((command) => !command.includes(' --validate=ignore '))).toEqual([]);
});
