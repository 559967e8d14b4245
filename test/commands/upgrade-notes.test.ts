import { expect, test } from 'vitest';
import type { Certificate } from '../../src/certificates/certificates.facts.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { objectKey } from '../../src/cluster/fleet/view.ts';
import { upgradeNotes as notesOf, upgradeNotesText } from '../../src/commands/upgrade-plan.ts';
import { stamped } from '../../src/engine/objects.ts';
import type { PlannedChange } from '../../src/engine/plan.ts';
import { FactError } from '../../src/errors.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { networkManifests } from '../../src/network/plugins.step.ts';
import type { ManifestFlag } from '../../src/upgrade/view-parts.facts.ts';
import { clusterOf, cp1, cp2, fleetIn, inventoryOf, joinedHost, w1 } from '../fakes/cluster.ts';
import { flannelNetwork, noNetwork, withNetwork } from '../fakes/network.ts';

const upgradeNotes = (
  inventory: Inventory,
  fleet: Fleet,
  changes: readonly PlannedChange[],
  flags: readonly ManifestFlag[] = [],
) => notesOf(inventory, fleet, changes, { manifestFlags: { value: flags } });

const certificate = (name: string, expires: string): Certificate => ({
  ...{ name, begins: '2026-01-01T00:00:00.000Z', expires, serial: '1', subject: name, issuer: 'kubernetes', names: [] },
});
const certificates = [
  certificate('ca', '2026-12-01T00:00:00.000Z'),
  certificate('kubelet-client', '2026-12-02T00:00:00.000Z'),
  certificate('apiserver', '2027-03-01T00:00:00.000Z'),
  certificate('admin.conf', '2027-02-01T00:00:00.000Z'),
];
const upgraded = (...hosts: readonly string[]): readonly PlannedChange[] =>
  hosts.map((host) => ({
    phase: 'control-plane-1.37',
    host,
    step: 'control-plane-upgraded',
    summary: '',
    change: { summary: '' },
  }));

const inventory = withNetwork(inventoryOf({ hosts: [cp1, cp2, w1] }), noNetwork);
const fleet = fleetIn(
  clusterOf(),
  joinedHost(cp1, { certificates }),
  joinedHost(cp2, { certificates }),
  joinedHost(w1),
);

test('the certificates that kubeadm renews are named with the first end, authorities and kubelets left out', () => {
  expect(upgradeNotes(inventory, fleet, upgraded('cp1', 'cp2'))).toEqual([
    'kubeadm renews the certificates of cp1, cp2 on the way; the first of them would expire on 2027-02-01',
  ]);
  expect(upgradeNotes(inventory, fleet, [])).toEqual([]);
});

test('certificates that could not be read are not taken for none', () => {
  const [, facts] = joinedHost(cp1);
  const unread = Object.defineProperty({ ...facts }, 'certificates', {
    get: () => {
      throw new FactError('cp1', 'certificates', 'openssl failed');
    },
  });
  const notes = upgradeNotes(
    inventory,
    { ...fleet, hosts: [{ os: 'linux', host: cp1, facts: unread }] },
    upgraded('cp1'),
  );
  expect(notes).toEqual([expect.stringContaining('when they would expire is unknown (cp1: ')]);
});

test('an authority that signs by a command has kubeadm renew nothing', () => {
  const ca = { certificate: 'PEM', sign: { command: ['sign'] } } as never;
  const signed = { ...inventory, certificates: { ...inventory.certificates, ca } };
  expect(upgradeNotes(signed, fleet, upgraded('cp1'))).toEqual([
    'kubeadm renews no certificates on cp1: the key of an authority is not in the cluster',
  ]);
});

test('a network plugin that differs from the inventory is named, since an upgrade leaves it as it is', () => {
  const newer = withNetwork(inventory, flannelNetwork());
  const objects = networkManifests(newer).flatMap((manifest) => manifest.objects.map(stamped));
  const live = (kept: readonly (typeof objects)[number][]) => ({
    ...fleet,
    cluster: clusterOf({ objects: new Map(kept.map((object) => [objectKey(object), object])) }),
  });
  expect(upgradeNotes(newer, live(objects), [])).toEqual([]);
  expect(upgradeNotes(newer, live(objects.slice(0, -1)), [])).toEqual([
    'the network plugin stays as it is; afterwards `kbuild up` would apply flannel v0.28.10 (found DaemonSet kube-flannel-ds missing)',
  ]);
});

test('flags that were written by hand into manifests are named: kubeadm takes them away', () => {
  const none = fleetIn(
    clusterOf({
      configuration: {
        apiServer: { extraArgs: [{ name: 'audit-log-path', value: '-' }] },
        etcd: { local: { extraArgs: { 'quota-backend-bytes': '1' } } },
      },
    }),
    joinedHost(cp1, { certificates: [] }),
    joinedHost(cp2, { certificates: [] }),
  );
  const flags = [
    { node: 'cp1', component: 'kube-apiserver', flag: 'secure-port' },
    { node: 'cp1', component: 'kube-apiserver', flag: 'audit-log-path' },
    { node: 'cp1', component: 'kube-apiserver', flag: 'profiling' },
    { node: 'cp2', component: 'kube-apiserver', flag: 'profiling' },
    { node: 'cp2', component: 'etcd', flag: 'quota-backend-bytes' },
    { node: 'cp2', component: 'my-own', flag: 'x' },
  ];
  const note =
    'kubeadm takes --profiling of kube-apiserver away, which was written by hand into its manifest on cp1, cp2; to keep it, name it in `kubeadm.cluster` of the inventory and run `kbuild up` first';
  expect(upgradeNotes(inventory, none, upgraded('cp1'), flags)).toEqual([note]);
  expect(upgradeNotes(inventory, none, [], flags)).toEqual([]);
  const patches = { 'kube-apiserver0+merge.yaml': 'spec: {}' } as never;
  const patched = { ...inventory, kubeadm: { ...inventory.kubeadm, patches } };
  expect(upgradeNotes(patched, none, upgraded('cp1'), flags)).toEqual([]);
  expect(notesOf(inventory, none, upgraded('cp1'), { manifestFlags: { unknown: 'no answer' } })).toEqual([
    'which flags kubeadm takes away from manifests of control planes is unknown (no answer)',
  ]);
});

test('a network plugin whose objects could not be read is unknown, and stops no upgrade', () => {
  const newer = withNetwork(inventory, flannelNetwork());
  const cluster = Object.defineProperty(clusterOf(), 'objects', {
    get: () => {
      throw new FactError('cp1', 'objects', 'no answer');
    },
  });
  expect(upgradeNotes(newer, { ...fleet, cluster }, [])).toEqual([
    expect.stringMatching(/^the network plugin stays as it is; what .* is unknown \(cp1: /),
  ]);
});

test('notes are a block of the plan, and none are none', () => {
  expect(upgradeNotesText(['a', 'b'])).toBe('Besides\n- a\n- b\n');
  expect(upgradeNotesText([])).toBe('');
});
