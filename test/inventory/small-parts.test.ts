import { expect, test } from 'vitest';
import { listeningPorts } from '../../src/host/openings.value.ts';
import { merged, mergedArguments } from '../../src/inventory/merge.ts';
import { showPath } from '../../src/inventory/schema/rule.ts';
import { inventoryJsonSchema } from '../../src/inventory/schema/schema.ts';
import { containerd } from '../../src/runtime/containerd.value.ts';
import { nearest } from '../../src/shell/text.ts';
import { compareVersions, supportedMinors } from '../../src/versions.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';

test('the nearest known word', () => {
  const known = ['kubelet', 'kubeadm', 'kubernetes', 'proxy'];
  expect(['kubelets', 'kubeadn', 'KUBERNETES', 'porxy', 'x', ''].map((word) => nearest(word, known))).toEqual([
    'kubelet',
    'kubeadm',
    'kubernetes',
    'proxy',
    undefined,
    undefined,
  ]);
});

test('paths are shown as people write them', () => {
  expect(showPath(['hosts', 1, 'labels', 'a.b/c'])).toBe('hosts[1].labels["a.b/c"]');
});

test('merging: mappings are merged, lists replaced, arguments merged by name, null takes away', () => {
  expect(
    merged(
      { a: { b: 1, c: 2 }, list: [1, 2], gone: 1, extraArgs: [{ name: 'x', value: '1' }] },
      {
        a: { c: 3, d: null },
        list: [3],
        gone: null,
        extraArgs: [
          { name: 'x', value: '2' },
          { name: 'y', value: '3' },
        ],
      },
    ),
  ).toEqual({
    a: { b: 1, c: 3 },
    list: [3],
    extraArgs: [
      { name: 'x', value: '2' },
      { name: 'y', value: '3' },
    ],
  });
});

test('an argument given twice replaces all of its name, in their place', () => {
  const argument = (name: string, value: string) => ({ name, value });
  const [a1, a2, b, c1, c2] = [
    argument('a', '1'),
    argument('a', '2'),
    argument('b', ''),
    argument('a', '3'),
    argument('a', '4'),
  ];
  expect(mergedArguments([a1, b, a2], [c1, c2])).toEqual([c1, c2, b]);
});

test('versions are compared by number', () => {
  expect(compareVersions('1.36.10', '1.36.9')).toBeGreaterThan(0);
  expect(compareVersions('1.9.0', '1.10.0')).toBeLessThan(0);
  expect(compareVersions('2.2.9', '2.2.9')).toBe(0);
});

test('the containerd that kbuild installs is one that containerd supports there', () => {
  const fits = (minor: string, version: string) => containerd.misfit(minor, version) === undefined;
  for (const minor of supportedMinors) expect(fits(minor, containerd.version(minor)!)).toBe(true);
  expect(['2.2.0', '2.3.1', '2.4.0', '3.0.0', '2.1.9', '1.7.99'].map((version) => fits('1.36', version))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  expect([fits('1.34', '1.7.27'), fits('1.34', '1.7.28')]).toEqual([false, true]);
});

test('ports follow the role', () => {
  const of = (role: 'control-plane' | 'worker') =>
    listeningPorts(inventory(), linuxHost('h', { role })).map(({ port, protocol }) => `${port}/${protocol}`);
  expect(of('worker')).toEqual(['10250/tcp', '10248/tcp', '10256/tcp', '10249/tcp', '8472/udp']);
  expect(of('control-plane')).toEqual(
    expect.arrayContaining(['6443/tcp', '2379/tcp', '2380/tcp', '10250/tcp', '10257/tcp', '10259/tcp', '8472/udp']),
  );
});

test('every setting of the JSON Schema says what it means', () => {
  interface Node {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, Node>>;
    readonly items?: Node;
  }
  const silent = (node: Node, path: string): readonly string[] =>
    Object.entries({ ...node.properties, ...node.items?.properties }).flatMap(([name, child]) => [
      ...(child.description === undefined ? [`${path}.${name}`] : []),
      ...silent(child, `${path}.${name}`),
    ]);
  expect(silent(inventoryJsonSchema(), '')).toEqual([]);
  expect(inventoryJsonSchema()).toMatchObject({
    additionalProperties: false,
    required: ['name', 'kubernetes', 'hosts'],
  });
});
