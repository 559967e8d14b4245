// @module-tag openssl
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { kubeletServing } from '../../src/certificates/kubelet-serving.step.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { Refused } from '../../src/errors.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { kubeletAuthority } from '../../src/kubeadm/kubelet-authority.step.ts';
import { withKubeletAuthority } from '../../src/kubeadm/kubelet-serving.value.ts';
import { type KubeletRequest, parseKubeletRequests } from '../../src/kubeadm/kubelet.facts.ts';
import { kubeadmSettings } from '../../src/kubeadm/settings.step.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import { certificateOf } from '../fakes/certificate.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, nodesOf, targetOf, w1 } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const serving = <H extends LinuxHost>(host: H): H => ({
  ...host,
  kubelet: { ...host.kubelet, config: { serverTLSBootstrap: true } },
});
const HOSTS = [serving(cp1), serving(w1)];
const plain = inventoryOf();
const wanted: Inventory = {
  ...plain,
  hosts: HOSTS,
  kubeadm: { ...plain.kubeadm, cluster: withKubeletAuthority(plain.kubeadm.cluster, HOSTS) },
};
const OWN = `DNS:w1,IP:${w1.internalAddress}`;

/** A request as a kubelet makes it. */
const requestFor = (subject: string, names?: string): string =>
  execFileSync(
    'openssl',
    [
      ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null'],
      ...['-subj', subject, ...(names === undefined ? [] : ['-addext', `subjectAltName=${names}`])],
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );

const asked = (request: string): KubeletRequest => ({
  profile: 'server',
  name: 'csr-1',
  uid: 'u',
  resourceVersion: '7',
  approved: false,
  node: 'w1',
  request,
});

const certificate = (more: object = {}) =>
  certificateOf('kubelet-server', '2099-01-01T00:00:00.000Z', { names: ['w1', w1.internalAddress], ...more });

function due(requests: readonly KubeletRequest[], facts: Partial<LinuxFacts> = {}) {
  const cluster = clusterOf({ kubeletRequests: requests, nodes: nodesOf(cp1, w1) });
  const fleet = fleetIn(
    cluster,
    joinedHost(HOSTS[0]!),
    joinedHost(HOSTS[1]!, { certificates: [], nowMs: Date.parse('2026-11-22T00:00:00Z'), ...facts }),
  );
  return kubeletServing.flatMap((step) => step.diff(targetOf(wanted, HOSTS[1]!, fleet)));
}
const summaries = (...given: Parameters<typeof due>) => due(...given).map(({ summary }) => summary);

describe('the serving certificate of a kubelet', () => {
  test('is waited for until the kubelet asks for it, and until it has it', () => {
    expect(summaries([])).toEqual([
      'wait until the kubelet of w1 asks for a serving certificate (found none)',
      'wait until the kubelet of w1 has a serving certificate (found none)',
    ]);
    expect(summaries([], { certificates: [certificate()] })).toEqual([]);
  });

  test.each([
    ['has ended', { expires: '2020-01-01T00:00:00.000Z' }, 'found one that ended 2020-01-01T00:00:00.000Z'],
    ['is for another address', { names: ['w1', '10.0.0.99'] }, 'found one for w1, 10.0.0.99'],
  ])('that %s counts as none', (_, more, found) => {
    expect(summaries([], { certificates: [certificate(more)] })[0]).toContain(found);
  });

  test('is approved for the node’s own name and address, and only as the request was observed', async () => {
    const { on, sent } = recordingOn();
    const [change, ...others] = due([asked(requestFor('/O=system:nodes/CN=system:node:w1', OWN))]);
    expect(others).toEqual([]);
    expect(change!.summary).toBe('approve the serving certificate of the kubelet of w1 (found csr-1 pending)');
    await change!.apply!(on);
    expect(sent.map((one) => ('script' in one ? `${one.host} ${one.script}` : ''))).toEqual([
      expect.stringMatching(
        /^cp1 .*"uid":"u","resourceVersion":"7".*"type":"Approved".*replace --raw \S+\/certificatesigningrequests\/csr-1\/approval/,
      ),
    ]);
  });

  test('that was approved is waited for', () => {
    const request = requestFor('/O=system:nodes/CN=system:node:w1', OWN);
    expect(summaries([{ ...asked(request), approved: true }])).toEqual([
      'wait until the certificate csr-1 of w1 is signed',
    ]);
  });

  test.each([
    ['for the address of another host', '/O=system:nodes/CN=system:node:w1', `${OWN},IP:10.0.0.11`, 'IP:10.0.0.11'],
    ['for another name', '/O=system:nodes/CN=system:node:w1', `${OWN},DNS:kubernetes`, 'DNS:kubernetes'],
    ['of a name that it is not', '/O=system:nodes/CN=system:node:cp1', OWN, 'names itself CN=system:node:cp1'],
    ['of an administrator', '/O=system:masters/CN=system:node:w1', OWN, 'names itself CN=system:node:w1, O=system:mas'],
    ['without its address', '/O=system:nodes/CN=system:node:w1', 'DNS:w1', 'does not ask for its address'],
  ])('%s is refused by name, on its own host alone', async (_, subject, names, why) => {
    const { on, sent } = recordingOn();
    const [change] = due([asked(requestFor(subject, names))]);
    expect(change!.summary).toContain('refuse the serving certificate of the kubelet of w1 (its request csr-1 ');
    expect(change!.summary).toContain(why);
    await expect(change!.apply!(on)).rejects.toBeInstanceOf(Refused);
    expect(sent).toEqual([]);
  });

  test('that cannot be read is refused', () => {
    expect(summaries([asked('nothing')])[0]).toContain('cannot be read');
  });

  test('is not asked about where the inventory does not want it', () => {
    const cluster = clusterOf({ kubeletRequests: [asked('nothing')], nodes: nodesOf(cp1, w1) });
    const fleet = fleetIn(cluster, joinedHost(cp1), joinedHost(w1));
    expect(kubeletServing.flatMap((step) => step.diff(targetOf(plain, w1, fleet)))).toEqual([]);
  });
});

describe('requests of kubelets', () => {
  const raw = (name: string, spec: object = {}, status: object = {}, time = '2026-01-01T00:00:00Z') => ({
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: time },
    spec: {
      signerName: 'kubernetes.io/kubelet-serving',
      username: 'system:node:w1',
      groups: ['system:nodes', 'system:authenticated'],
      usages: ['digital signature', 'server auth'],
      request: Buffer.from('x').toString('base64'),
      ...spec,
    },
    status,
  });
  const found = (...items: readonly object[]) =>
    parseKubeletRequests(JSON.stringify({ items })).map(({ name, approved }) => ({ name, approved }));

  test('for serving count before they are approved', () => {
    expect(found(raw('a'))).toEqual([{ name: 'a', approved: false }]);
    expect(found(raw('a', {}, { conditions: [{ type: 'Approved', status: 'True' }] }))).toEqual([
      { name: 'a', approved: true },
    ]);
  });

  test('count by the newest of a node: an older one was given up', () => {
    expect(found(raw('b', {}, {}, '2026-01-02T00:00:00Z'), raw('a'))).toEqual([{ name: 'b', approved: false }]);
    expect(found(raw('b', {}, { certificate: 'eA==' }, '2026-01-02T00:00:00Z'), raw('a'))).toEqual([]);
  });

  test.each([
    ['for another signer', { signerName: 'example.com/serving' }, {}],
    ['of a user that is no node', { username: 'kubernetes-admin' }, {}],
    ['of a user that is in no node group', { groups: ['system:authenticated'] }, {}],
    ['for client certificates', { usages: ['digital signature', 'client auth'] }, {}],
    ['for more uses', { usages: ['digital signature', 'server auth', 'client auth'] }, {}],
    ['that were denied', {}, { conditions: [{ type: 'Denied', status: 'True' }] }],
    ['that failed', {}, { conditions: [{ type: 'Failed', status: 'True' }] }],
  ])('%s are left alone', (_, spec, status) => {
    expect(found(raw('a', spec, status))).toEqual([]);
  });
});

describe('API servers', () => {
  const settings = { ...settingsOf(wanted), cluster: plain.kubeadm.cluster };
  const cluster = clusterOf({ nodes: nodesOf(cp1, w1), settings });
  const target = (over: Partial<Inventory> = {}, live = cluster) => ({
    inventory: { ...wanted, ...over },
    host: cp1,
    facts: live,
    fleet: fleetIn(live, joinedHost(HOSTS[0]!), joinedHost(HOSTS[1]!)),
  });

  test('verify kubelets’ certificates in a step of their own, after all other settings', () => {
    expect(kubeadmSettings.diff(target())).toEqual([]);
    expect(kubeletAuthority.diff(target()).map(({ summary }) => summary)).toEqual([
      'have API servers verify the certificates of kubelets (found no --kubelet-certificate-authority)',
    ]);
  });

  test('do so only after every kubelet has shown a certificate of the cluster', async () => {
    const { on, sent } = recordingOn();
    await kubeletAuthority.diff(target())[0]!.apply!(on);
    const [proof, note, ...jobs] = sent;
    expect(note).toMatchObject({ kind: 'run', title: 'engine/apply-objects.sh' });
    expect('script' in note! ? note.script : '').toContain('unfinished');
    expect(proof).toMatchObject({ host: 'cp1', kind: 'run' });
    expect('script' in proof! ? proof.script : '').toContain(`w1 ${w1.internalAddress}`);
    expect(jobs.map(({ kind }) => kind)).toContain('job');
  });

  test('that got the flag in a run that was cut off keep it, and the same step goes on', () => {
    const live = clusterOf({ nodes: nodesOf(cp1, w1), settings, unfinished: ['kubelet-certificate-authority'] });
    expect(kubeadmSettings.diff(target({}, live))).toEqual([]);
    expect(kubeletAuthority.diff(target({}, live))).toHaveLength(1);
  });

  test('… or lose it, if the inventory was set back: the cluster’s settings alone do not show it', async () => {
    const live = clusterOf({ nodes: nodesOf(cp1, w1), settings, unfinished: ['kubelet-certificate-authority'] });
    const [change, ...others] = kubeadmSettings.diff(target({ hosts: plain.hosts, kubeadm: plain.kubeadm }, live));
    expect(others).toEqual([]);
    expect(change!.summary).toContain('kubeadm.cluster');
    expect(change!.restarts!.map(({ what }) => what)).toContain('API server');
    expect(await change!.preview!(recordingOn().on)).toContain(
      'kubeadm.cluster: a change of it may not have reached all control planes',
    );
  });

  test('keep the flag without a second restart', () => {
    const live = clusterOf({ nodes: nodesOf(cp1, w1), settings: settingsOf(wanted) });
    expect(kubeletAuthority.diff(target({}, live))).toEqual([]);
    expect(kubeadmSettings.diff(target({}, live))).toEqual([]);
  });

  test('lose the flag before kubelets lose their certificates', () => {
    const live = clusterOf({ nodes: nodesOf(cp1, w1), settings: settingsOf(wanted) });
    const changes = kubeadmSettings.diff(target({ hosts: plain.hosts, kubeadm: plain.kubeadm }, live));
    expect(changes.map(({ summary }) => summary)).toEqual([
      expect.stringContaining('kubeadm.cluster') as unknown as string,
    ]);
  });

  test('wait for a node whose host is away', () => {
    const fleet = { ...target().fleet, unreachable: [{ host: HOSTS[1]!, error: new Error('no route') }] };
    expect(kubeletAuthority.diff({ ...target(), fleet })).toEqual([]);
  });

  test('are refused the flag while a node is not in the inventory: its logs could not be read any more', () => {
    const live = clusterOf({ nodes: nodesOf(cp1, w1, { ...w1, name: 'stranger' }), settings });
    expect(() => kubeletAuthority.diff(target({}, live))).toThrow('stranger: not in the inventory');
  });

  test('get the flag only when every node is to have a certificate, and a value of the inventory stays', () => {
    expect(withKubeletAuthority({}, [serving(cp1), w1])).toEqual({});
    const own = { apiServer: { extraArgs: [{ name: 'kubelet-certificate-authority', value: '/own.crt' }] } };
    expect(withKubeletAuthority(own, HOSTS)).toEqual(own);
    const others = { apiServer: { certSANs: ['a'], extraArgs: [{ name: 'v', value: '2' }] } };
    expect(withKubeletAuthority(others, HOSTS)).toEqual({
      apiServer: {
        certSANs: ['a'],
        extraArgs: [
          { name: 'kubelet-certificate-authority', value: '/etc/kubernetes/pki/ca.crt' },
          { name: 'v', value: '2' },
        ],
      },
    });
  });
});
