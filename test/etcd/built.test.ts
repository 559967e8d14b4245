import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterView, EtcdState } from '../../src/cluster/fleet/view.ts';
import { memberHost } from '../../src/cluster/member-host.ts';
import { leavingOf } from '../../src/cluster/removal.ts';
import { removalRefusals } from '../../src/cluster/remove.refusal.ts';
import { standing } from '../../src/cluster/standing.ts';
import type { Step, Target } from '../../src/engine/step.ts';
import { Refused } from '../../src/errors.ts';
import { etcdAuthority } from '../../src/etcd/authority.step.ts';
import { etcdCertificates, etcdClientCertificate } from '../../src/etcd/certificates.step.ts';
import { etcdDocuments, newCluster } from '../../src/etcd/config.ts';
import { etcdEndpoints } from '../../src/etcd/endpoints.step.ts';
import { etcdPki, type EtcdPki } from '../../src/etcd/etcd.facts.ts';
import { etcdFounded, undoHalfFinishedEtcd } from '../../src/etcd/found.step.ts';
import { etcdMembers } from '../../src/etcd/members.step.ts';
import type { MemberView } from '../../src/etcd/view.facts.ts';
import type { FileState } from '../../src/host/files.facts.ts';
import { listeningPorts } from '../../src/host/openings.value.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { clusterConfiguration } from '../../src/kubeadm/config.ts';
import { changedFixedSettings } from '../../src/kubeadm/settings.ts';
import { undoHalfFinished } from '../../src/kubeadm/undo.step.ts';
import { paths } from '../../src/paths.ts';
import {
  clusterOf,
  cp1,
  factsOf,
  fleetIn,
  hostOf,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  nodeOf,
  targetOf,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const etcd = (number: number): LinuxHost =>
  hostOf({ name: `etcd${String(number)}`, role: 'etcd', internalAddress: `10.0.0.3${String(number)}` });
const [etcd1, etcd2, etcd3] = [etcd(1), etcd(2), etcd(3)];
const endpoints = [1, 2, 3].map((number) => `https://10.0.0.3${String(number)}:2379`);
const inventory = inventoryOf({ etcd: { topology: 'built', endpoints }, hosts: [etcd1, etcd2, etcd3, cp1] });

const DAY_MS = 24 * 60 * 60_000;
const NOW_MS = Date.UTC(2026, 5, 1);
const noSnapshot = () => Promise.resolve();

/** What the authority of a host has signed, good for so many days; a name with other days is given by `over`. */
const pki = (host: LinuxHost, days = 300, over: Readonly<Record<string, number>> = {}): EtcdPki => ({
  nowMs: NOW_MS,
  isUnfinished: false,
  authority: 'sha256:ca',
  certificates: ['server', 'peer', 'healthcheck-client', 'apiserver-etcd-client'].map((name) => ({
    name,
    hasKey: true,
    isIssued: true,
    beginsMs: NOW_MS - 335 * DAY_MS,
    expiresMs: NOW_MS + (over[name] ?? days) * DAY_MS,
    names: [host.name, 'localhost', host.internalAddress, '127.0.0.1'],
  })),
});
const blank: EtcdPki = { nowMs: NOW_MS, isUnfinished: false, authority: 'absent', certificates: [] };
const key: FileState = { kind: 'file', sha256: 'k', mode: 0o600, owner: 'root:root', mtimeMs: 0 };
const fresh = (facts: Partial<LinuxFacts> = {}): LinuxFacts => factsOf({ etcdPki: blank, ...facts });
/** A member of `demo`, complete. */
const member = (host: LinuxHost, facts: Partial<LinuxFacts> = {}): LinuxFacts =>
  factsOf({
    etcdPki: pki(host),
    etcdToken: 'demo',
    files: new Map([[paths.etcdCaKey, key]]),
    kubernetesTraces: new Set([paths.etcdManifest, '/var/lib/etcd/member']),
    ...facts,
  });
const view = (host: LinuxHost, over: Partial<MemberView> = {}): MemberView => ({
  id: host.name.at(-1)!,
  name: host.name,
  peerUrl: `https://${host.internalAddress}:2380`,
  learner: false,
  healthy: true,
  leader: host.name === 'etcd1',
  dbSize: 1,
  ...over,
});
const state = (...members: readonly MemberView[]): EtcdState => ({ state: 'up', via: 'etcd1', members, alarms: [] });
const three = state(view(etcd1), view(etcd2), view(etcd3));
const absent = (of?: EtcdState): ClusterView => ({ state: 'absent', etcd: of ?? { state: 'absent' } });
const up = (of: EtcdState = three): ClusterView => ({
  ...clusterOf({ members: of.state === 'up' ? of.members : [] }),
  etcd: of,
});

const at = (
  host: LinuxHost,
  seen: readonly (readonly [LinuxHost, LinuxFacts])[],
  cluster: ClusterView = absent(),
): Target => targetOf(inventory, host, fleetIn(cluster, ...seen));
const summaries = (steps: Step | readonly Step[], target: Target): readonly string[] =>
  [steps].flat().flatMap((step) => step.diff(target).map(({ summary }) => summary));

const bare = [
  [etcd1, fresh()],
  [etcd2, fresh()],
  [etcd3, fresh()],
  [cp1, fresh()],
] as const;
const whole = [
  [etcd1, member(etcd1)],
  [etcd2, member(etcd2)],
  [etcd3, member(etcd3)],
  joinedHost(cp1, { etcdPki: pki(cp1), etcdServers: endpoints }),
] as const;
const emptied = [[etcd1, member(etcd1)], [etcd2, member(etcd2)], [etcd3, fresh()], whole[3]] as const;

describe('what a host shows of its certificates', () => {
  const parse = (head: string) =>
    etcdPki(inventory, etcd1).parse(
      readFileSync(new URL('../fixtures/etcd/pki.txt', import.meta.url), 'utf8').replace('NOW', head),
      { middleMs: 0 },
    ) as EtcdPki;

  test('is their issuer, names, end, and whether the key exists', () => {
    const found = parse('1780272000000');
    expect(found).toMatchObject({ nowMs: 1_780_272_000_000, isUnfinished: false });
    expect(found.authority).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(found.certificates.map(({ name, hasKey, isIssued }) => [name, hasKey, isIssued])).toEqual([
      ['server', true, true],
      ['peer', false, true],
      ['healthcheck-client', true, false],
    ]);
    expect(found.certificates[0]!.names).toEqual(expect.arrayContaining(['etcd1', 'localhost', '10.0.0.31']));
    expect(parse('1780272000000\nunfinished').isUnfinished).toBe(true);
  });

  test('is not asked of workers, and nowhere with stacked etcd', () => {
    expect(etcdPki(inventory, hostOf({ name: 'w1' })).command.script).toContain("WANTED=''");
    expect(etcdPki(inventoryOf(), cp1).command.script).toContain("WANTED=''");
  });
});

describe('certificates', () => {
  test('of a fresh host are made, the authority first', () => {
    const steps = [etcdAuthority, etcdCertificates];
    expect(summaries(steps, at(etcd1, bare))).toEqual([
      "have etcd's certificate authority, made here or on another host of role etcd (found none)",
      "sign etcd's certificates of etcd1: server (found none), peer (found none), healthcheck-client (found none)",
    ]);
  });

  test('of another authority are never made where one is in use, or may be', () => {
    const lost = [...bare.slice(0, 3), whole[3]] as const;
    expect(() => etcdAuthority.diff(at(etcd1, lost))).toThrow(/holds the key .* any more, and cp1 uses it/);
    expect(() => etcdAuthority.diff(at(etcd1, bare.slice(0, 2)))).toThrow(/kbuild did not reach etcd3/);
    const two = [
      [etcd1, member(etcd1)],
      [etcd2, member(etcd2, { etcdPki: { ...pki(etcd2), authority: 'sha256:b' } })],
    ] as const;
    expect(() => etcdAuthority.diff(at(etcd1, two))).toThrow(/2 different certificate authorities/);
  });

  test('the authority is taken from a host that has it, its key 0600 from the first byte and in no command', async () => {
    const target = at(etcd3, emptied);
    expect(summaries(etcdAuthority, target)).toEqual(["take etcd's certificate authority from etcd1 (found none)"]);
    const { on, sent } = recordingOn({ run: () => 'PRIVATE', read: () => 'PUBLIC' });
    await etcdAuthority.diff(target)[0]!.apply!(on);
    const writes = sent.flatMap((one) =>
      one.kind === 'write' ? [[one.path.split('/').at(-1), one.content, one.mode]] : [],
    );
    expect(writes).toEqual([
      ['ca.key', 'PRIVATE', 0o600],
      ['ca.crt', 'PUBLIC', undefined],
    ]);
    expect(sent.flatMap((one) => ('script' in one ? [one.script] : [])).join()).not.toContain('PRIVATE');
  });

  test('a key that others may read is closed', () => {
    const open = member(etcd1, { files: new Map([[paths.etcdCaKey, { ...key, mode: 0o644 }]]) });
    expect(summaries(etcdAuthority, at(etcd1, [[etcd1, open]]))).toEqual([
      'let root alone read /etc/kubernetes/pki/etcd/ca.key (found mode 644)',
    ]);
  });

  test.each([
    ['31 days left', pki(etcd1, 31), []],
    ['30 days left', pki(etcd1, 300, { server: 30 }), ['server (found 30 days left)']],
    ['expired', pki(etcd1, 300, { peer: -1 }), ['peer (found expired)']],
    [
      'another address',
      { ...pki(etcd1), certificates: pki(etcd2).certificates },
      ['server (found not for etcd1)', 'peer (found not for etcd1)'],
    ],
    [
      'cut off',
      { ...pki(etcd1), isUnfinished: true },
      ['server', 'peer', 'healthcheck-client'].map((name) => `${name} (found its signing was cut off)`),
    ],
  ])('%s', (_, found, due) => {
    const wanted = due.length === 0 ? [] : [`sign etcd's certificates of etcd1: ${due.join(', ')}`];
    expect(summaries(etcdCertificates, at(etcd1, [[etcd1, member(etcd1, { etcdPki: found })]]))).toEqual(wanted);
  });

  test('a control plane gets a client certificate before it runs out, and never the key of the authority', async () => {
    const old = joinedControlPlane({ etcdPki: pki(cp1, 10) });
    const target = at(cp1, [...whole.slice(0, 3), [cp1, old]], up());
    expect(summaries(etcdClientCertificate, target)).toEqual([
      'fetch a client certificate of etcd for the API server of cp1 (found 10 days left)',
    ]);
    const pair = '-----BEGIN EC PRIVATE KEY-----\nK\n-----BEGIN CERTIFICATE-----\nC\n';
    const { on, sent } = recordingOn({ run: () => pair, read: () => 'CA' });
    await etcdClientCertificate.diff(target)[0]!.apply!(on);
    expect(
      sent.flatMap((one) => (one.kind === 'write' ? [[one.host, one.path.split('/').at(-1), one.mode]] : [])),
    ).toEqual([
      ['cp1', 'ca.crt', undefined],
      ['cp1', 'apiserver-etcd-client.key', undefined],
      ['cp1', 'apiserver-etcd-client.crt', 0o644],
    ]);
    expect(summaries(etcdClientCertificate, at(cp1, whole, up()))).toEqual([]);
  });
});

describe('founding', () => {
  test('all hosts start with the same list', () => {
    expect(summaries(etcdFounded, at(etcd2, bare))).toEqual([
      'start etcd on etcd2, one of etcd1, etcd2, etcd3 (found none)',
    ]);
    expect(newCluster(inventory)).toEqual({
      state: 'new',
      members: 'etcd1=https://10.0.0.31:2380,etcd2=https://10.0.0.32:2380,etcd3=https://10.0.0.33:2380',
    });
  });

  test('an interrupted one continues, and a single empty host never founds etcd', () => {
    const marker = { cluster: 'demo', action: 'init', job: 'x', stage: 'begun' } as const;
    const begun = [[etcd1, member(etcd1, { marker })], ...bare.slice(1)] as const;
    expect(summaries(etcdFounded, at(etcd2, begun))).toHaveLength(1);
    expect(summaries(etcdFounded, at(etcd1, begun))).toEqual([]);
    expect(summaries(etcdFounded, at(etcd3, emptied, up(state(view(etcd1), view(etcd2)))))).toEqual([]);
  });

  test('is refused while one of its hosts is not observed: it may have the data', () => {
    expect(() => summaries(etcdFounded, at(etcd1, bare.slice(0, 2)))).toThrow(/kbuild did not reach etcd3/);
  });

  test('is refused where the cluster is there and its data is nowhere', () => {
    const lost = [...bare.slice(0, 3), whole[3]] as const;
    const down: ClusterView = { state: 'down', reason: 'no answer', etcd: { state: 'absent' } };
    expect(() => etcdFounded.flatMap((step) => step.diff(at(etcd1, lost, down)))).toThrow(Refused);
  });

  test("kubeadm's configuration has the member, the token and the user's settings; that of control planes has the endpoints", () => {
    const local = { extraArgs: [{ name: 'quota-backend-bytes', value: '1' }] };
    const mine = { ...inventory, kubeadm: { ...inventory.kubeadm, cluster: { etcd: { local } } } };
    const [init, cluster] = etcdDocuments(mine, etcd1, { initial: newCluster(mine) });
    expect(init).toMatchObject({
      nodeRegistration: { name: 'etcd1' },
      localAPIEndpoint: { advertiseAddress: '10.0.0.31' },
    });
    expect(cluster).toMatchObject({
      etcd: {
        local: {
          extraArgs: [
            { name: 'quota-backend-bytes', value: '1' },
            { name: 'initial-cluster-token', value: 'demo' },
            { name: 'initial-cluster', value: newCluster(mine).members },
            { name: 'initial-cluster-state', value: 'new' },
          ],
        },
      },
    });
    expect(clusterConfiguration(mine)['etcd']).toMatchObject({ external: { endpoints } });
    expect(clusterConfiguration(mine)['etcd']).not.toHaveProperty('local');
  });
});

describe('members', () => {
  const steps = etcdMembers(noSnapshot);

  test('a whole etcd needs nothing', () => {
    for (const host of [etcd1, etcd2, etcd3]) {
      expect(standing(at(host, whole, up()))).toBe('joined');
      expect(
        summaries([...steps, ...etcdFounded, ...undoHalfFinishedEtcd(noSnapshot, noSnapshot)], at(host, whole, up())),
      ).toEqual([]);
    }
  });

  test('an empty host joins as a learner and gets its vote; its stale member goes first', () => {
    expect(summaries(steps, at(etcd3, emptied, up(state(view(etcd1), view(etcd2)))))).toEqual([
      'add etcd3 to etcd as a learner (found 2 members)',
      'promote etcd3 to a voting member of etcd, once it has caught up',
      'check that etcd on etcd3 serves',
    ]);
    const stale = up(state(view(etcd1), view(etcd2), view(etcd3, { healthy: false })));
    expect(summaries(steps, at(etcd3, emptied, stale))[0]).toBe(
      'add etcd3 to etcd as a learner (found its stale member 3, which is removed first)',
    );
  });

  test('no host joins while a member is not healthy', () => {
    const sick = up(state(view(etcd1), view(etcd2, { healthy: false })));
    expect(summaries(steps, at(etcd3, emptied, sick))[0]).toMatch(
      /wait until etcd3 may become a member of etcd: .*1 of 2 voters healthy/,
    );
  });

  test('a member that started as a learner continues; one that never started is undone', () => {
    const marker = { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } as const;
    const half = [
      [etcd1, member(etcd1)],
      [etcd2, member(etcd2)],
      [etcd3, member(etcd3, { marker })],
    ] as const;
    const undo = undoHalfFinishedEtcd(noSnapshot, noSnapshot);
    const learner = at(etcd3, half, up(state(view(etcd1), view(etcd2), view(etcd3, { learner: true }))));
    expect(summaries(undo, learner)).toEqual([]);
    expect(summaries(steps, learner)[0]).toBe('promote etcd3 to a voting member of etcd, once it has caught up');
    const unstarted = view(etcd3, { learner: true, name: '', healthy: false });
    expect(summaries(undo, at(etcd3, half, up(state(view(etcd1), view(etcd2), unstarted))))).toEqual([
      'undo a half-finished member of etcd on etcd3 (found learner 3)',
    ]);
  });

  test('no member is undone while etcd does not answer', async () => {
    const marker = { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } as const;
    const half = [
      [etcd1, member(etcd1)],
      [etcd2, member(etcd2)],
      [etcd3, member(etcd3, { marker })],
    ] as const;
    const [wait, undo] = undoHalfFinishedEtcd(noSnapshot, noSnapshot).map((step) =>
      step.diff(at(etcd3, half, absent({ state: 'down', reason: 'no leader' }))),
    );
    expect(wait![0]!.apply).toBeUndefined();
    const { on, sent } = recordingOn();
    await expect(undo![0]!.apply!(on)).rejects.toThrow(Refused);
    expect(sent).toEqual([]);
  });

  test("a host with another cluster's etcd is foreign", () => {
    expect(standing(at(etcd1, [[etcd1, member(etcd1, { etcdToken: 'other' })]]))).toBe('foreign');
    expect(standing(at(etcd1, [[etcd1, member(etcd1, { etcdToken: '' })]]))).toBe('foreign');
  });

  test('etcd is changed through a healthy member, never through the one that leaves', () => {
    const fleet = fleetIn(up(state(view(etcd1), view(etcd2, { healthy: false }), view(etcd3))), ...whole);
    expect(memberHost(inventory, fleet).name).toBe('etcd1');
    expect(memberHost(inventory, fleet, 'etcd1').name).toBe('etcd3');
  });

  test('removals are refused by the same arithmetic', () => {
    const fleet = fleetIn(up(state(view(etcd1), view(etcd2, { healthy: false }), view(etcd3))), ...whole);
    const why = removalRefusals(inventory, fleet, leavingOf(inventory, fleet, ['etcd1']));
    expect(why.map(({ message }) => message).join()).toContain('without etcd1 1 of 2 would be healthy, quorum 2');
    expect(removalRefusals(inventory, fleet, leavingOf(inventory, fleet, ['etcd2']))).toEqual([]);
  });
});

test('an etcd host opens the ports of etcd, and no port of the kubelet', () => {
  expect(listeningPorts(inventory, etcd1).map(({ port, from }) => [port, from])).toEqual([
    [2379, 'control-planes'],
    [2380, 'control-planes'],
    [2381, 'itself'],
    [10250, 'itself'],
    [10248, 'itself'],
  ]);
  expect(listeningPorts(inventory, cp1).map(({ port }) => port)).not.toContain(2379);
});

test('a live cluster with stacked etcd is not put onto another one', () => {
  expect(changedFixedSettings(inventory, { ...clusterOf().configuration, etcd: { local: {} } })).toEqual([
    { setting: 'etcd.topology', wanted: 'external', live: 'stacked' },
  ]);
});

describe('a half-finished init', () => {
  const marker = { cluster: 'demo', action: 'init', job: 'x', stage: 'begun' } as const;
  const half = joinedControlPlane({ marker, etcdPki: pki(cp1) });
  const seen = [...whole.slice(0, 3), [cp1, half]] as const;
  const undo = async (cluster: ClusterView) => {
    const { on, sent } = recordingOn();
    await undoHalfFinished(noSnapshot, noSnapshot).diff(at(cp1, seen, cluster))[0]!.apply!(on);
    return sent.map((one) => `${one.host} ${one.kind === 'job' ? one.name : one.kind}`);
  };

  test('takes its keys out of etcd again, after its API server was stopped and before the marker goes', async () => {
    const down: ClusterView = { state: 'down', reason: 'no answer', etcd: three };
    expect(await undo(down)).toEqual(['cp1 stop-control-plane', 'etcd1 run', 'cp1 kubeadm-reset']);
  });

  test('never deletes keys while another host is in the cluster', async () => {
    const nodes = ['cp1', 'cp2'].map((name) => nodeOf({ name, role: name === 'cp1' ? 'worker' : 'control-plane' }));
    const others = { ...clusterOf({ nodes, members: [] }), caFingerprint: 'sha256:other', etcd: three };
    expect(await undo(others)).toEqual(['cp1 kubeadm-reset']);
  });
});

describe('endpoints', () => {
  const stored = (urls: readonly string[]) =>
    clusterOf({
      configuration: { etcd: { external: { endpoints: urls } } },
      nodes: [nodeOf({ name: 'cp1', role: 'control-plane' })],
    });
  const with_ = (servers: readonly string[], urls: readonly string[] = servers) =>
    at(cp1, [...whole.slice(0, 3), joinedHost(cp1, { etcdServers: servers })], {
      ...stored(urls),
      etcd: three,
    });

  test('of an API server follow the inventory', () => {
    expect(summaries(etcdEndpoints, with_(endpoints))).toEqual([]);
    expect(summaries(etcdEndpoints, with_(endpoints.slice(0, 2)))).toEqual([
      'point the API server of cp1 to etcd at 10.0.0.31, 10.0.0.32, 10.0.0.33 (found 10.0.0.31, 10.0.0.32)',
    ]);
  });

  test('what kubeadm keeps for the next control plane follows too', () => {
    expect(etcdEndpoints.diff(with_(endpoints, endpoints.slice(0, 2)))[0]).toMatchObject({ disrupts: false });
  });

  test('of another etcd are refused', () => {
    expect(() => etcdEndpoints.diff(with_(['https://10.9.9.9:2379']))).toThrow(/names other endpoints/);
  });
});
