/** Answers of a host that no probe expects: each is a fact that could not be read, never a guess and never a crash. */
import { describe, expect, test } from 'vitest';
import { factsFrom } from '../../src/cluster/fleet/framed-script.ts';
import { parseConfigMaps, parseNodes, parseObjects, parsePods, parseSecrets } from '../../src/cluster/fleet/objects.ts';
import { FactError } from '../../src/errors.ts';
import { parseEtcd } from '../../src/etcd/view.facts.ts';
import { modules } from '../../src/host/kernel.facts.ts';
import { cpus, missingTools, osRelease } from '../../src/host/machine.facts.ts';
import { applied, services } from '../../src/host/services.facts.ts';
import { zram } from '../../src/host/swap.facts.ts';
import { kubeletConfig, parseKubeletRequests } from '../../src/kubeadm/kubelet.facts.ts';
import { expired, podsSeen, podWarnings } from '../../src/network/pods.survey.ts';
import { itemsOf, objectOf, objectsOf, textIn, textsOf } from '../../src/shell/decode.ts';
import type { Probe } from '../../src/shell/probe.ts';
import { parseEvictions } from '../../src/upgrade/view-parts.facts.ts';

const NOW = { middleMs: 0 };
const CSR = { name: 'csr-1', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const REQUEST = JSON.stringify({ items: [{ metadata: CSR, spec: { signerName: 's', groups: 'x', request: '' } }] });

const factOf = <T>(probe: Pick<Probe<T>, 'parse'>, stdout: string): T =>
  factsFrom('w1', { fact: probe }, { fact: { stdout } }, NOW).fact;

describe('a word that no probe expects is a fact that could not be read', () => {
  test.each<readonly [string, Pick<Probe<unknown>, 'parse'>, string]>([
    ['a module', modules, 'overlay whatever\nbr_netfilter working\nnf_conntrack working\n'],
    ['a module without a state', modules, 'overlay\nbr_netfilter working\nnf_conntrack working\n'],
    ['a program', missingTools, 'tar\n__proto__\n'],
    ['zram', zram, 'Z'.repeat(1000)],
    ['a number of CPUs', cpus, 'NaN\n'],
    ['a state of a service', services(['kubelet']), `Unit=kubelet\nActiveState=${'a'.repeat(300)}\n`],
    ['what a service loaded', applied, 'kubelet\n'],
    ["the kubelet's configuration", kubeletConfig, '- a\n'],
    ['a trait of a pod', { parse: parseEvictions }, 'pod w1 a/b empty-dir,odd\n'],
    ['nodes that are null', { parse: parseNodes }, '{"items":null}'],
    ['a node without a name', { parse: parseNodes }, '{"items":[{"metadata":null}]}'],
    ['pods that are numbers', { parse: parsePods }, '{"items":[1]}'],
    ['a ConfigMap of lists', { parse: parseConfigMaps }, '{"items":[{"metadata":{"name":"a"},"data":{"b":[]}}]}'],
    ['an object that is a number', { parse: parseObjects }, '5'],
    ['an object without a name', { parse: parseObjects }, '{"kind":"List","items":[{}]}'],
    ['a Secret without a hash', { parse: parseSecrets }, 'a b\n'],
    [
      'a node whose conditions are a text',
      { parse: parseNodes },
      '{"items":[{"metadata":{"name":"a"},"status":{"conditions":"x"}}]}',
    ],
    [
      'a pod whose containers are numbers',
      { parse: parsePods },
      '{"items":[{"metadata":{"name":"a"},"status":{"containerStatuses":[1]}}]}',
    ],
    [
      'a pod that has restarted "often"',
      { parse: parsePods },
      '{"items":[{"metadata":{"name":"a"},"status":{"containerStatuses":[{"restartCount":"often"}]}}]}',
    ],
    ["a kubelet's request without a name", { parse: parseKubeletRequests }, '{"items":[{"metadata":{},"spec":{}}]}'],
    ["a kubelet's request whose groups are a text", { parse: parseKubeletRequests }, REQUEST],
    [
      'a pod of a survey whose address is a number',
      { parse: podsSeen },
      '{"items":[{"metadata":{"name":"a"},"status":{"podIP":5}}]}',
    ],
    ['an event whose message is a list', { parse: podWarnings }, '{"items":[{"message":[]}]}'],
    ['a namespace whose name is a number', { parse: expired }, '5\n{"items":[{"metadata":{"name":1}}]}'],
    [
      "etcd's status without a member",
      { parse: parseEtcd },
      'alarms {}\nmembers {"members":[]}\nstatus [{"Endpoint":"x","Status":{}}]\n',
    ],
    ["etcd's alarms that are a text", { parse: parseEtcd }, 'alarms {"alarms":"x"}\nmembers {"members":[]}\n'],
    ["etcd's members", { parse: parseEtcd }, 'alarms {}\nmembers {"members":{"a":1}}\n'],
    ["etcd's health", { parse: parseEtcd }, 'alarms {}\nmembers {"members":[]}\nhealth {"a":1}\n'],
  ])('%s', (_, probe, answer) => {
    expect(() => factOf(probe, answer)).toThrow(FactError);
  });
});

test('an answer of more than 1 MiB is no answer, and its error is a line', () => {
  const read = (): unknown => factOf({ parse: (out: string) => out.length }, 'x'.repeat(1024 * 1024 + 1));
  expect(read).toThrow(/^w1: could not tell fact: its answer has 1048577 characters, and at most 1048576 are read$/);
  const failing = (): unknown =>
    factsFrom('w1', { fact: { parse: () => 1 } }, { fact: { failed: `a\n${'b'.repeat(5000)}` } }, NOW).fact;
  expect(failing).toThrow(new FactError('w1', 'fact', `a ${'b'.repeat(597)}…`));
});

test('an answer with a NUL character is no answer: it can be no word of a shell', () => {
  expect(() => factOf({ parse: (out: string) => out }, '/etc/a\0b\n')).toThrow('NUL character');
});

test('a name of the system of any length is cut to 200 characters', () => {
  const { prettyName } = factOf(osRelease, `ID=debian\nPRETTY_NAME="${'a.'.repeat(30_000)} token"\n`);
  expect(prettyName).toHaveLength(200);
  expect(prettyName.endsWith('…')).toBe(true);
});

test('values of another kind are refused', () => {
  for (const odd of [null, 1, 'a', []]) expect(() => objectOf(odd)).toThrow('where an object was expected');
  expect(() => objectsOf({})).toThrow('an object where a list was expected');
  expect(() => objectsOf([null])).toThrow('null where an object was expected');
  expect([objectsOf(undefined), objectsOf(null)]).toEqual([[], []]);
  expect(() => textIn(5)).toThrow('number where a text was expected');
  expect([textIn('a'), textIn(undefined, 'b')]).toEqual(['a', 'b']);
  expect(() => textIn(undefined)).toThrow('undefined where a text was expected');
  expect(textsOf(undefined)).toEqual({});
  expect(() => itemsOf('{}')).toThrow('where a list was expected');
});
