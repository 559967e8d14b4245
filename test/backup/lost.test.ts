// @module-tag openssl
import { describe, expect, test } from 'vitest';
import { encryptionKeys } from '../../src/backup/encryption.ts';
import {
  apiReasons,
  isBroughtBack,
  livingReasons,
  lostCluster,
  lostNodes,
  oldAddresses,
  workersOf,
} from '../../src/backup/lost-cluster.ts';
import { backupName } from '../../src/backup/manifest.ts';
import { backupRefusals, controlPlaneReasons, workerReasons } from '../../src/backup/restore.refusal.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { refusedFor } from '../../src/cluster/reasons.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { clusterConfiguration } from '../../src/kubeadm/config.ts';
import { initOf } from '../../src/kubeadm/init.step.ts';
import type { FromBackup } from '../../src/kubeadm/run-kubeadm.step.ts';
import { lostNodesDeleted } from '../../src/kubeadm/tokens.step.ts';
import { Secret } from '../../src/shell/secret.ts';
import { ca, etcd, manifestOf } from '../fakes/backup.ts';
import {
  CA,
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedHost,
  joinedWorker,
  nodeOf,
  OTHER_CA,
  targetOf,
  w1,
  w2,
} from '../fakes/cluster.ts';
import { recordingOn, type Sent } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, w1, w2] });
const manifest = manifestOf({
  ca: CA,
  configuration: clusterConfiguration(inventory),
  kubernetes: inventory.kubernetes.version,
});
const why = (over: Parameters<typeof manifestOf>[0], its = inventory) =>
  backupRefusals(its, { ...manifest, ...over }).map(({ message }) => message);

describe('a backup is refused', () => {
  test('not where it is of this cluster', () => {
    expect(backupRefusals(inventory, manifest)).toEqual([]);
  });

  test('for another cluster, and for a copy of its own under another name', () => {
    const [refused, ...more] = backupRefusals(inventory, { ...manifest, cluster: 'other' });
    expect(more).toEqual([]);
    expect(refused!.message).toContain('of the cluster "other"');
    expect(refused!.remedy).toContain('would trust each other');
  });

  test('for another endpoint, with the way to lead the old one to the new hosts', () => {
    const moved = inventoryOf({ hosts: inventory.hosts, endpoint: 'new.example:6443' });
    const [refused] = backupRefusals(moved, manifest);
    expect(refused!.message).toContain('endpoint is new.example:6443, the cluster of the backup has k8s.example:6443');
    expect(refused!.remedy).toContain('set kubernetes.endpoint to k8s.example:6443');
  });

  test('for other subnets', () => {
    const configuration = { ...manifest.configuration, networking: { podSubnet: '10.1.0.0/16' } };
    expect(why({ configuration }).join()).toContain('network.podSubnet');
  });

  test('for another minor and an older patch of Kubernetes', () => {
    expect(why({ kubernetes: '1.35.9' })).toHaveLength(1);
    expect(why({ kubernetes: '1.36.99' })).toHaveLength(1);
    expect(why({ kubernetes: '1.36.0' })).toEqual([]);
  });

  test('for an authority of the inventory that is not its own', () => {
    const own = (cert: string) =>
      inventoryOf({
        hosts: inventory.hosts,
        certificates: { ...inventory.certificates, ca: { cert, key: Secret.of('') } },
      });
    expect(why({ ca: manifestOf().ca }, own(ca.cert))).toEqual([]);
    expect(why({ ca: manifestOf().ca }, own(etcd.cert)).join()).toContain('certificates.ca is');
  });

  test('for an authority of etcd or of the front proxy that is not its own, or signs another way', () => {
    const sign = () => Promise.resolve('');
    const own = (more: object) =>
      inventoryOf({ hosts: inventory.hosts, certificates: { ...inventory.certificates, ...more } });
    const key = Secret.of('');
    expect(why({}, own({ etcdCa: { cert: etcd.cert, key } }))).toEqual([]);
    expect(why({}, own({ etcdCa: { cert: ca.cert, key } })).join()).toContain('certificates.etcdCa is');
    expect(why({}, own({ frontProxyCa: { cert: ca.cert, key } })).join()).toContain('certificates.frontProxyCa is');
    expect(why({}, own({ etcdCa: { cert: etcd.cert, sign } })).join()).toContain('certificates.etcdCa.sign says');
    const parts = manifest.parts.filter(({ name }) => name !== 'pki/etcd/ca.key');
    expect(why({ parts }).join()).toContain('does not have the key of the authority etcd-ca');
    expect(why({ parts }, own({ etcdCa: { cert: etcd.cert, sign } }))).toEqual([]);
  });

  test('for an etcd beside the control planes', () => {
    expect(why({ etcd: { ...manifest.etcd, topology: 'built' } })).toHaveLength(1);
  });

  test('while no file of the inventory has the key that encrypted its Secrets', () => {
    const text = (secret: string): string =>
      `kind: EncryptionConfiguration\nresources: [{ resources: [secrets], providers: [{ aescbc: { keys: [{ name: k1, secret: ${secret} }] } }] }]\n`;
    const encryption = { path: '/etc/kubernetes/enc.yaml', keys: [...encryptionKeys(Secret.of(text('a2V5')))] };
    expect(why({ encryption }).join()).toMatch(/aescbc "k1" .*no file of the inventory has that key/);
    const withFile = (content: string | Secret, hosts = ['cp1', 'cp2']) =>
      inventoryOf({
        hosts: inventory.hosts,
        files: [{ hosts, path: '/etc/kubernetes/enc.yaml', content, mode: 0o600 }],
      });
    expect(why({ encryption }, withFile(Secret.of(text('a2V5'))))).toEqual([]);
    expect(why({ encryption }, withFile(text('b3RoZXI=')))).toHaveLength(1);
    expect(why({ encryption }, withFile(text('a2V5'), ['w1']))).toHaveLength(1);
  });
});

describe('before all control planes are made anew', () => {
  const worker = (host: typeof w1, caFingerprint = CA) => [host, joinedWorker({ caFingerprint })] as const;

  test('workers that trust the authority are told from others', () => {
    const fleet = fleetOf(freshHost(cp1), freshHost(cp2), worker(w1), worker(w2, OTHER_CA));
    const found = workersOf(inventory, fleet, manifest);
    expect(found).toEqual({ own: ['w1'], others: ['w2'], unknown: [] });
    expect(refusedFor(workerReasons, { inventory, workers: found })).toEqual([]);
  });

  test('a backup of another cluster of the same name is refused by the workers', () => {
    const fleet = fleetOf(freshHost(cp1), worker(w1, OTHER_CA), worker(w2, OTHER_CA));
    const [refused] = refusedFor(workerReasons, { inventory, workers: workersOf(inventory, fleet, manifest) });
    expect(refused!.message).toContain('another cluster of the same name');
    const bare = fleetOf(freshHost(cp1), freshHost(w1));
    expect(refusedFor(workerReasons, { inventory, workers: workersOf(inventory, bare, manifest) })).toEqual([]);
  });

  test('a host with a control plane, and a served endpoint, stop it', () => {
    const living = (fleet: Fleet) => refusedFor(controlPlaneReasons, { inventory, fleet });
    expect(living(fleetOf(freshHost(cp1), freshHost(cp2)))).toEqual([]);
    const held = living(fleetIn({ state: 'down', reason: 'x' }, freshHost(cp1), joinedHost(cp2)));
    expect(held.map(({ subject }) => subject)).toEqual(['cp2']);
    const served = fleetOf(freshHost(cp1, { endpoint: 'serves' }), freshHost(cp2));
    expect(living(served)[0]!.message).toContain('a control plane lives');
    expect(living(fleetOf(freshHost(cp1, { endpoint: 'refused' }), freshHost(cp2)))).toEqual([]);
  });

  test('`up` founds no other cluster where every worker is a node of one', () => {
    const bare = [freshHost(cp1), freshHost(cp2)] as const;
    const refused = lostCluster(inventory, fleetOf(...bare, worker(w1), worker(w2)));
    expect(refused!.message).toContain('w1, w2 are nodes of a cluster already');
    expect(refused!.remedy).toContain('kbuild restore BACKUP');
    expect(lostCluster(inventory, fleetOf(...bare, worker(w1), freshHost(w2)))).toBeUndefined();
    expect(lostCluster(inventory, fleetOf(...bare))).toBeUndefined();
    expect(lostCluster(inventory, fleetOf(freshHost(cp1), worker(w1), worker(w2)))).toBeUndefined();
    expect(lostCluster(inventory, fleetIn(clusterOf(), joinedHost(cp1), worker(w1)))).toBeUndefined();
  });

  test('the old addresses are known, without those that the new hosts have', () => {
    const of = {
      ...manifest,
      controlPlanes: [
        { name: 'old1', address: '10.9.0.1' },
        { name: 'cp1', address: cp1.internalAddress },
      ],
    };
    const fleet = fleetOf(freshHost(cp1, { interfaces: [] }), freshHost(cp2, { interfaces: [] }));
    expect(oldAddresses(fleet, of)).toEqual([{ name: 'old1', address: '10.9.0.1' }]);
  });
});

describe('nodes of lost control planes', () => {
  const nodes = ['cp1', 'cp2', 'old1', 'w1', 'gone'].map((name) => nodeOf({ name }));
  const of = { ...manifest, controlPlanes: ['cp1', 'cp2', 'old1', 'w1'].map((name) => ({ name, address: '' })) };
  const seen = (second: ReturnType<typeof freshHost>) =>
    fleetIn(clusterOf({ nodes }), joinedHost(cp1), second, [w1, joinedWorker()]);

  test('are those whose host is empty or not named; neither joined hosts nor workers', async () => {
    expect(lostNodes(inventory, seen(freshHost(cp2)), of)).toEqual(['cp2', 'old1']);
    expect(lostNodes(inventory, seen(joinedHost(cp2)), of)).toEqual(['old1']);
    expect(lostNodes(inventory, fleetIn(clusterOf({ nodes }), joinedHost(cp1)), of)).toEqual(['old1']);
    expect(lostNodes(inventory, fleetOf(freshHost(cp1)), of)).toEqual([]);
    const fleet = seen(freshHost(cp2));
    const [change] = lostNodesDeleted(of).diff({ inventory, host: cp1, facts: fleet.cluster, fleet });
    expect(change!.summary).toBe('delete the nodes cp2, old1 of lost control planes');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect((sent[0] as { readonly script: string }).script).toContain(
      'delete node --ignore-not-found --wait=false cp2 old1',
    );
  });
});

describe('an init from a backup', () => {
  const from: FromBackup = {
    about: 'backup-abc-run1',
    snapshot: '/tmp/x.db',
    taken: '2026-11-21T16:50:45.000Z',
    pki: { 'pki_ca.crt': Secret.of('CERT'), 'pki_sa.key': Secret.of('KEY') },
  };
  const marker = { cluster: 'demo', action: 'init', job: 'x', stage: 'begun', about: from.about };

  test('brings the snapshot, puts the keys in place, and lets kubeadm find the data', async () => {
    const [change] = initOf(from).diff(targetOf(inventory, cp1, fleetOf(freshHost(cp1), freshHost(cp2))));
    expect(change!.summary).toContain('bring the cluster demo back from the backup of 2026-11-21T16:50:45.000Z');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent.map(({ kind }) => kind)).toEqual(['upload', 'job']);
    const job = sent[1] as Extract<Sent, { readonly kind: 'job' }>;
    expect(Object.keys(job.files).toSorted()).toEqual(['config.yaml', 'pki_ca.crt', 'pki_sa.key']);
    expect(job.script).toContain('ABOUT=backup-abc-run1');
    expect(job.script).toContain('IGNORED=DirAvailable--var-lib-etcd');
    expect(job.script).not.toContain('KEY\n');
  });

  test('that was cut off is not undone by `up`, which would found another cluster', () => {
    const fleet = fleetOf(freshHost(cp1, { marker }), freshHost(cp2));
    const found = refusals(inventory, fleet).find(({ message }) => message.startsWith('cp1: '));
    expect(found!.remedy).toContain('kbuild restore BACKUP');
    const served = fleetIn(
      clusterOf({ nodes: [nodeOf({ name: 'cp1' }), nodeOf({ name: 'cp2' })] }),
      joinedHost(cp1, { marker }),
      joinedHost(cp2),
    );
    expect(refusals(inventory, served).filter(({ remedy }) => remedy?.includes('kbuild restore'))).toEqual([]);
  });
});

describe('the API of the inventory decides whether a backup may become the cluster', () => {
  const seenOf = (cluster: Fleet['cluster'], over: { notes?: readonly string[]; was?: 'not served' } = {}) => ({
    inventory,
    manifest,
    fleet: fleetIn(cluster, joinedHost(cp1), joinedHost(cp2)),
    notes: over.notes ?? [`${backupName(manifest)}-run1`],
    was: over.was,
  });
  const namesOf = (seen: Parameters<typeof isBroughtBack>[0]) =>
    refusedFor(apiReasons, seen).map(({ refusal }) => refusal);
  const up = clusterOf({ caFingerprint: manifest.ca });
  const down = { state: 'down', reason: 'refused' } as const;

  test('refuses a live cluster that did not come from this backup', () => {
    for (const seen of [seenOf(up, { notes: [] }), seenOf(up, { notes: ['backup-other'] })]) {
      expect(isBroughtBack(seen)).toBe(false);
      expect(namesOf(seen)).toEqual(['nothing-lost']);
    }
    expect(namesOf(seenOf(clusterOf({ caFingerprint: OTHER_CA })))).toEqual(['nothing-lost']);
  });

  test('goes on where this backup serves, unless another run brought it back after the question', () => {
    expect(isBroughtBack(seenOf(up))).toBe(true);
    expect(namesOf(seenOf(up))).toEqual([]);
    expect(namesOf(seenOf(up, { was: 'not served' }))).toEqual(['changed-meanwhile']);
  });

  test('waits for the API of a cluster that came from this backup, and goes on with a restore that was cut off', () => {
    expect(namesOf(seenOf(down))).toEqual(['cluster-down']);
    expect(namesOf(seenOf(down, { notes: [] }))).toEqual([]);
    const marker = { cluster: 'demo', action: 'init', job: 'x', stage: 'begun', about: `${backupName(manifest)}-run1` };
    expect(namesOf({ ...seenOf(down), fleet: fleetIn(down, joinedHost(cp1, { marker })) })).toEqual([]);
  });

  test('refuses while a program listens where the backup has control planes', () => {
    const living = refusedFor(livingReasons, { inventory, living: ['old1 (10.0.0.99:2379)'], from: 'cp1' });
    expect(living.map(({ refusal, message }) => [refusal, message])).toEqual([
      ['control-plane-lives', expect.stringContaining('old1 (10.0.0.99:2379), as seen from cp1')],
    ]);
    expect(refusedFor(livingReasons, { inventory, living: [], from: 'cp1' })).toEqual([]);
  });
});
