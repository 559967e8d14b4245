import { describe, expect, test } from 'vitest';
import { sharedKeysBack } from '../../src/certificates/place-authority.step.ts';
import { lostKeys, sharedKeyFiles } from '../../src/certificates/shared-files.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  freshHost,
  inventoryOf,
  joinedHost,
  nodesOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { filesWith } from '../fakes/files.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });
const PKI = '/etc/kubernetes/pki';
const ALL = [
  'ca.key',
  'ca.crt',
  'sa.key',
  'sa.pub',
  'front-proxy-ca.key',
  'front-proxy-ca.crt',
  'etcd/ca.key',
  'etcd/ca.crt',
];
const files = (names: readonly string[], of = 'a'): LinuxFacts['files'] =>
  filesWith(Object.fromEntries(names.map((name) => [`${PKI}/${name}`, `${of} ${name}`])));
const without = (...lost: readonly string[]): readonly string[] => ALL.filter((name) => !lost.includes(name));
const live = clusterOf({ nodes: nodesOf(cp1, cp2) });
const fleet = (one: LinuxFacts['files'], other: LinuxFacts['files']) =>
  fleetIn(live, joinedHost(cp1, { files: one }), joinedHost(cp2, { files: other }));
const lost = (seen: ReturnType<typeof fleet>) =>
  lostKeys(inventory, seen, { host: cp1, facts: (seen.hosts[0] as { readonly facts: LinuxFacts }).facts });

describe('the keys that control planes share', () => {
  test('are watched on control planes only', () => {
    expect(sharedKeyFiles(inventory, cp1).toSorted()).toEqual(ALL.map((name) => `${PKI}/${name}`).toSorted());
    expect(sharedKeyFiles(inventory, w1)).toEqual([]);
  });

  test('come back from a control plane that has them beside the same certificate', async () => {
    const seen = fleet(files(without('sa.key', 'etcd/ca.key')), files(ALL));
    expect(lost(seen)).toEqual([
      { key: 'sa.key', from: cp2 },
      { key: 'etcd/ca.key', from: cp2 },
    ]);
    const changes = sharedKeysBack.diff(targetOf(inventory, cp1, seen));
    expect(changes.map(({ summary }) => summary)).toEqual([
      `copy ${PKI}/sa.key from cp2 (found none)`,
      `copy ${PKI}/etcd/ca.key from cp2 (found none)`,
    ]);
    const { on, sent } = recordingOn({ run: () => `sa.key ${Buffer.from('PRIVATE').toString('base64')}\n` });
    await changes[0]!.apply!(on);
    expect(sent.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['cp2 reveal', 'cp1 write']);
    expect(sent[1]).toMatchObject({ path: `${PKI}/sa.key` });
    expect(sharedKeysBack.diff(targetOf(inventory, cp1, fleet(files(ALL), files(ALL))))).toEqual([]);
  });

  test('are not taken from a control plane with another certificate, or without one to compare', () => {
    expect(lost(fleet(files(without('ca.key')), files(ALL, 'b')))).toEqual([{ key: 'ca.key', from: undefined }]);
    expect(lost(fleet(files(without('ca.key', 'ca.crt')), files(ALL)))).toEqual([{ key: 'ca.key', from: undefined }]);
    const gone = fleet(files(without('ca.key')), files(without('ca.key')));
    expect(lost(gone)).toEqual([{ key: 'ca.key', from: undefined }]);
    expect(sharedKeysBack.diff(targetOf(inventory, cp1, gone))).toEqual([]);
  });

  test('are no matter of a host that has not joined', () => {
    const seen = fleetIn(live, freshHost(cp1, { files: files([]) }), joinedHost(cp2, { files: files(ALL) }));
    expect(lost(seen)).toEqual([]);
  });
});
