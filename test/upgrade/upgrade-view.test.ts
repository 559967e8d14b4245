// @module-tag linux
/** The script of an upgrade's view, with a kubectl that a test speaks for: it prints what kubectl 1.33 made of the templates. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { observeUpgrade } from '../../src/upgrade/view.ts';
import { cp1, cp2, inventoryOf, w1 } from '../fakes/cluster.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-upgrade-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** `printf` of these rows. */
const rows = (...all: readonly string[]): string => `printf '%s\\n' ${all.map((row) => `'${row}'`).join(' ')}`;

/** What kubectl answers, by the start of its arguments; a request that is not listed gets nothing. */
const ANSWERS: Readonly<Record<string, string>> = {
  'get persistentvolumes ': rows('local db data-db-0'),
  'get pods -A ': rows(
    'w1 default web-1 ReplicaSet - - ',
    'w2 default web-2 ReplicaSet - - ',
    'w1 default alone none empty-dir - ',
    'w2 db db-0 StatefulSet - tolerates-cordon data-db-0,',
    'w1 db db-1 StatefulSet - - data-db-1,',
  ),
  'get poddisruptionbudgets ': rows(
    'default web 0 1 1 2 1 <nil> <nil> InsufficientPods some app=web,',
    'default front 1 2 1 2 <nil> 25% AlwaysAllow SufficientPods some app in (web,x),tier,',
    'default other 1 2 1 2 1 <nil> <nil> - some app=other,tier=x,',
    'cache one 1 2 1 2 1 <nil> <nil> - some app=one,',
    'cache two 1 2 1 2 1 <nil> <nil> - some app=two,',
    'default nothing 0 0 0 0 <nil> 0 <nil> - none ',
    'db all 0 2 2 2 <nil> 0 <nil> - some ',
  ),
  'get pods -n default -l app=web ': rows('w1 default web-1 ReplicaSet - - ', 'w2 default web-2 ReplicaSet - - '),
  'get pods -n default -l app in (web,x),tier ': rows('w2 default web-2 ReplicaSet - - '),
  'get validatingwebhookconfigurations,': rows(
    'hook ValidatingWebhookConfiguration guards pods.example hooks guard',
    'hook MutatingWebhookConfiguration inject sidecar.example hooks inject',
    'hook MutatingWebhookConfiguration away away.example - -',
  ),
  'get endpointslices -A -l kubernetes.io/service-name in (guard,inject) ': rows('ready hooks guard'),
  'get --raw /metrics': rows(
    '# TYPE apiserver_requested_deprecated_apis gauge',
    'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1',
    'apiserver_requested_deprecated_apis{group="networking.k8s.io",removed_release="1.37",resource="ipaddresses",subresource="status",version="v1beta1"} 1',
    'apiserver_request_total{code="200"} 7',
  ),
  '-n kube-system get deployment coredns ': rows(
    'found [{"manager":"kubeadm","fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:dnsPolicy":{}}}}}},{"manager":"kubectl-edit","fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/restartedAt":{}}},"f:spec":{"f:affinity":{".":{}},"f:containers":{"k:{\\"name\\":\\"coredns\\"}":{"f:resources":{"f:limits":{}}}}}}}}},{"manager":"kubectl","fieldsV1":{"f:spec":{"f:replicas":{}}}}]',
  ),
  '-n kube-system get pods -l tier=control-plane ': rows(
    'cp1 kube-apiserver kube-apiserver',
    'cp1 kube-apiserver --advertise-address=10.0.0.11',
    'cp1 etcd --name cp1',
    'cp1 <no value> --x',
  ),
  '-n kube-system get daemonset kube-proxy ': '',
  '-n kube-system get configmap kubeadm-config ': rows('kind: ClusterConfiguration', 'proxy: {}'),
  'get nodes ': rows('cp1 - -', 'w1 unschedulable kbuild', 'w2 unschedulable -'),
  '-n kube-system get daemonset kured ': rows(
    'found {"nodeID":"w2","metadata":{"unschedulable":false},"created":"2026-11-20T03:00:00Z","TTL":3600000000000}',
  ),
};

/** Observes two control planes, of which only that of cp1 answers, through a kubectl on this machine. */
async function observed(answers: Readonly<Record<string, string>> = {}, unreadable: readonly string[] = []) {
  const cases = Object.entries({ ...ANSWERS, ...answers }).map(([start, answer]) => {
    return `  '${start}'*) ${answer === '' ? ':' : answer} ;;`;
  });
  writeFileSync(
    join(folder, 'kubectl'),
    `#!/bin/sh
echo "$*" >>${folder}/asked
case "$2" in *10.0.0.12*) echo 'connection refused' >&2; exit 1 ;; esac
shift 3
case "$*" in
${cases.join('\n')}
esac
`,
  );
  chmodSync(join(folder, 'kubectl'), 0o755);
  const run = ({ script }: { readonly script: string }) => {
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', script.replaceAll(' -p /run kbuild-', ` -p ${folder} kbuild-`)],
      {
        encoding: 'utf8',
        env: { PATH: `${folder}:${process.env['PATH'] ?? ''}` },
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return Promise.resolve(stdout);
  };
  return observeUpgrade({ run }, inventoryOf({ hosts: [cp1, cp2, w1] }), cp1, { unreadable });
}

describe('the view of an upgrade', () => {
  test('shows what drains move, and which pods a drain costs something', async () => {
    const { evictions } = await observed();
    expect(evictions).toEqual({
      value: {
        perNode: new Map([
          ['w1', 3],
          ['w2', 2],
        ]),
        pods: [
          { node: 'w1', pod: 'default/alone', traits: ['no-controller', 'empty-dir'] },
          { node: 'w2', pod: 'db/db-0', traits: ['tolerates-cordon', 'local-volume'] },
        ],
      },
    });
  });

  test('shows the names of the flags of control planes, and none of their values', async () => {
    expect((await observed()).manifestFlags).toEqual({
      value: [
        { node: 'cp1', component: 'kube-apiserver', flag: 'advertise-address' },
        { node: 'cp1', component: 'etcd', flag: 'name' },
      ],
    });
    const { manifestFlags } = await observed({ '-n kube-system get pods -l tier=control-plane ': 'exit 1' });
    expect(manifestFlags).toHaveProperty('unknown');
  });

  test('shows budgets with their counts, and the pods that the API server finds in two of them', async () => {
    const { budgets, twiceBudgeted } = await observed();
    expect(budgets).toMatchObject({
      value: [
        { name: 'default/web', minAvailable: '1', evictsUnhealthy: 'within-budget', reason: 'InsufficientPods' },
        { name: 'default/front', maxUnavailable: '25%', evictsUnhealthy: 'always', disruptionsAllowed: 1 },
        { name: 'default/other' },
        { name: 'cache/one' },
        { name: 'cache/two' },
        { name: 'default/nothing', expectedPods: 0, reason: '' },
        { name: 'db/all', maxUnavailable: '0', desiredHealthy: 2, expectedPods: 2 },
      ],
    });
    expect(twiceBudgeted).toEqual({ value: [{ node: 'w2', pod: 'default/web-2', budgets: ['front', 'web'] }] });
  });

  describe('of objects that a newer API server cannot read', () => {
    const GROUP = 'scheduling.k8s.io';
    const WORKLOAD = `Workload.v1alpha2.${GROUP}`;
    const POD_GROUP = `PodGroup.v1alpha2.${GROUP}`;
    // As kubectl 1.36 says it.
    const notServed = (kind: string) =>
      `echo "error: the server doesn't have a resource type \\"${kind}\\"" >&2; exit 1`;
    const VERSIONS = { 'api-versions': rows('v1', `${GROUP}/v1`, `${GROUP}/v1alpha2`) };
    const elsewhere = { [`get Workload.v1.${GROUP} `]: notServed('Workload') };
    const objectsOf = async (answers: Readonly<Record<string, string>>, apis = [WORKLOAD, POD_GROUP]) =>
      (await observed(answers, apis)).unreadableObjects;

    test('counts those of a kind that no other version serves', async () => {
      const found = { [`get ${WORKLOAD} -A`]: rows('workload.scheduling.k8s.io/a', 'workload.scheduling.k8s.io/b') };
      const missing = { [`get ${POD_GROUP} -A`]: notServed('PodGroup') };
      expect(await objectsOf({ ...found, ...missing, ...VERSIONS, ...elsewhere })).toEqual({
        value: [{ api: WORKLOAD, count: 2 }],
      });
    });

    test('leaves out a kind that another version serves, which its objects are stored in', async () => {
      const found = { [`get ${WORKLOAD} -A`]: rows('a'), [`get Workload.v1.${GROUP} `]: rows('a') };
      expect(await objectsOf({ ...found, ...VERSIONS })).toEqual({ value: [] });
    });

    test('counts another version that goes with the same upgrade for none', async () => {
      const both = { [`get ${WORKLOAD} -A`]: rows('a'), [`get Workload.v1alpha1.${GROUP} -A`]: rows('a') };
      const versions = { 'api-versions': rows(`${GROUP}/v1alpha1`, `${GROUP}/v1alpha2`) };
      const apis = [`Workload.v1alpha1.${GROUP}`, WORKLOAD];
      expect(await objectsOf({ ...both, ...versions }, apis)).toEqual({
        value: apis.map((api) => ({ api, count: 1 })),
      });
    });

    test.each([
      ['the list of objects', { [`get ${WORKLOAD} -A`]: 'echo refused >&2; exit 1' }],
      [
        'the other version',
        { ...VERSIONS, [`get ${WORKLOAD} -A`]: rows('a'), [`get Workload.v1.${GROUP} `]: 'echo refused >&2; exit 1' },
      ],
    ])('is unknown when %s cannot be read', async (_, answers) => {
      const part = await objectsOf(answers, [WORKLOAD]);
      expect(part).toEqual({ unknown: expect.stringContaining('refused') as string });
    });
  });

  test('shows which services of webhooks have a ready endpoint', async () => {
    const { webhooks } = await observed();
    expect(webhooks).toMatchObject({
      value: [
        { name: 'pods.example', service: 'hooks/guard', endpoint: 'ready' },
        { name: 'sidecar.example', service: 'hooks/inject', endpoint: 'none' },
        { name: 'away.example', endpoint: 'url' },
      ],
    });
  });

  test('shows deprecated APIs for each API server, and an API server that does not answer as unknown', async () => {
    const { deprecatedApis } = await observed();
    expect(deprecatedApis.get('cp1')).toEqual({
      value: [
        { group: '', version: 'v1', resource: 'endpoints', subresource: '', removedRelease: '' },
        {
          ...{ group: 'networking.k8s.io', version: 'v1beta1', resource: 'ipaddresses', subresource: 'status' },
          removedRelease: '1.37',
        },
      ],
    });
    expect(deprecatedApis.get('cp2')).toEqual({
      unknown: 'cp2: could not tell deprecatedApis: status 1: connection refused',
    });
  });

  test('shows which fields of CoreDNS another manager set, and an addon that kubeadm creates again', async () => {
    const { addons } = await observed();
    expect(addons).toEqual({
      value: {
        coreDnsEdits: [{ manager: 'kubectl-edit', fields: ['affinity', 'containers[coredns].resources'] }],
        comesBack: ['kube-proxy'],
      },
    });
  });

  test("shows the operator's cordons without kbuild's, and kured's lock", async () => {
    const { nodes, kured } = await observed();
    expect(nodes).toEqual({ value: { names: ['cp1', 'w1', 'w2'], cordonedByOperator: ['w2'] } });
    expect(kured).toEqual({
      value: { locks: [{ node: 'w2', since: '2026-11-20T03:00:00Z', untilMs: Date.parse('2026-11-20T04:00:00Z') }] },
    });
  });

  test('only reads, and observes each API server at its own address', async () => {
    await observed();
    const asked = readFileSync(join(folder, 'asked'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('--server'));
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((line) => !/^--server \S+ --request-timeout=20s (?:-n kube-system )?get /.test(line))).toEqual(
      [],
    );
    const metrics = asked.filter((line) => line.endsWith('/metrics')).map((line) => line.split(' ')[1]);
    expect(metrics.toSorted()).toEqual(['https://10.0.0.11:6443', 'https://10.0.0.12:6443']);
  });

  test('lists no pods of a budget that cannot share one with another budget of its namespace', async () => {
    await observed();
    const selectors = [...readFileSync(join(folder, 'asked'), 'utf8').matchAll(/ -n (\S+ -l .+?) --field/g)];
    expect(selectors.map(([, selector]) => selector).toSorted()).toEqual([
      'default -l app in (web,x),tier',
      'default -l app=other,tier=x',
      'default -l app=web',
    ]);
  });

  test('keeps the other parts if one fails', async () => {
    const view = await observed({
      'get pods -n default -l app=web ': 'echo "the server is overloaded" >&2; exit 1',
      'get endpointslices -A -l kubernetes.io/service-name in (guard,inject) ': 'echo "no such resource" >&2; exit 1',
    });
    expect(view.twiceBudgeted).toEqual({
      unknown: 'cp1: could not tell twiceBudgeted: status 1: the server is overloaded',
    });
    expect(view.webhooks).toEqual({ unknown: 'cp1: could not tell webhooks: status 1: no such resource' });
    expect(view.budgets).toHaveProperty('value');
    expect(view.evictions).toHaveProperty('value');
  });

  test('of a small cluster has no pods, budgets, webhooks, locks or edits', async () => {
    const nothing = Object.fromEntries(Object.keys(ANSWERS).map((start) => [start, '']));
    const view = await observed({
      ...nothing,
      'get nodes ': rows('cp1 - -'),
      '-n kube-system get configmap kubeadm-config ': rows('dns:', '  disabled: true', 'proxy:', '  disabled: true'),
    });
    expect(view).toEqual({
      unreadableObjects: { value: [] },
      evictions: { value: { perNode: new Map(), pods: [] } },
      budgets: { value: [] },
      twiceBudgeted: { value: [] },
      webhooks: { value: [] },
      deprecatedApis: new Map([
        ['cp1', { value: [] }],
        ['cp2', expect.objectContaining({ unknown: expect.any(String) as string })],
      ]),
      addons: { value: { coreDnsEdits: 'absent', comesBack: [] } },
      manifestFlags: { value: [] },
      nodes: { value: { names: ['cp1'], cordonedByOperator: [] } },
      kured: { value: 'absent' },
    });
  });
});
