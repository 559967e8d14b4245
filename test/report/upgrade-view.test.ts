import { describe, expect, test } from 'vitest';
import { upgradeViewJson } from '../../src/commands/upgrade-plan.ts';
import { upgradeViewText } from '../../src/report/upgrade.ts';
import type { Budget, DeprecatedApi, EvictedPod, FailingWebhook } from '../../src/upgrade/view-parts.facts.ts';
import type { UpgradeView } from '../../src/upgrade/view.ts';
import { faultsIn } from '../tools/documents.ts';

/** A cluster in which nothing stops an upgrade, and what a test says differs. */
const viewOf = (over: Partial<UpgradeView> = {}): UpgradeView => ({
  evictions: { value: { perNode: new Map(), pods: [] } },
  budgets: { value: [] },
  twiceBudgeted: { value: [] },
  webhooks: { value: [] },
  deprecatedApis: new Map([['cp1', { value: [] }]]),
  unreadableObjects: { value: [] },
  addons: { value: { coreDnsEdits: [], comesBack: [] } },
  manifestFlags: { value: [] },
  nodes: { value: { names: [], cordonedByOperator: [] } },
  kured: { value: 'absent' },
  ...over,
});

const textOf = (over: Partial<UpgradeView>, nodes?: readonly string[]): string =>
  upgradeViewText(viewOf(over), { target: '1.37.1', ...(nodes === undefined ? {} : { nodes }) });

const budgetOf = (budget: Partial<Budget>): Budget => ({
  name: 'shop/web',
  disruptionsAllowed: 0,
  currentHealthy: 2,
  desiredHealthy: 1,
  expectedPods: 2,
  evictsUnhealthy: 'within-budget',
  reason: '',
  ...budget,
});

const budgets = (...list: readonly Partial<Budget>[]) => textOf({ budgets: { value: list.map(budgetOf) } });

const pods = (...list: readonly EvictedPod[]): Partial<UpgradeView> => ({
  evictions: { value: { perNode: new Map(), pods: list } },
});

const apiOf = (removedRelease: string, api: Partial<DeprecatedApi> = {}): DeprecatedApi => ({
  ...{ group: 'networking.k8s.io', version: 'v1beta1', resource: 'ipaddresses', subresource: '', removedRelease },
  ...api,
});

test('a plan says nothing about a cluster in which nothing stops an upgrade', () => {
  expect(textOf({})).toBe('');
});

describe('pods to evict', () => {
  const perNode = new Map([
    ['cp1', 2],
    ['w1', 12],
    ['w2', 12],
    ['w3', 1],
  ]);
  const evictions = { value: { perNode, pods: [] } };

  test('are counted for each node, and nodes without any are named', () => {
    const nodes = { value: { names: ['cp1', 'w1', 'w2', 'w3', 'w4'], cordonedByOperator: [] } };
    expect(textOf({ evictions, nodes })).toBe(
      'Pods to evict, of each node\n  cp1: 2 pods\n  w1, w2: 12 pods\n  w3: 1 pod\n  w4: 0 pods\n',
    );
  });

  test('are those of the nodes that this upgrade drains', () => {
    expect(textOf({ evictions }, ['w2'])).toBe('Pods to evict, of each node\n  w2: 12 pods\n');
  });

  test('are unknown if the API server did not list them', () => {
    expect(textOf({ evictions: { unknown: 'cp1: could not tell evictions: no answer within 60 s' } })).toBe(
      'In the cluster\n? unknown: cp1: could not tell evictions: no answer within 60 s\n',
    );
  });
});

describe('PodDisruptionBudgets', () => {
  test('that never allow an eviction are named with their setting', () => {
    const text = budgets(
      { minAvailable: '2', desiredHealthy: 2 },
      { name: 'shop/db', maxUnavailable: '0', desiredHealthy: 2 },
      { name: 'shop/job', maxUnavailable: '1', reason: 'SyncFailed', expectedPods: 0 },
    );
    expect(text).toContain(
      '! PodDisruptionBudgets never allow an eviction: shop/web (minAvailable 2: 2 needed of 2 pods), shop/db (maxUnavailable 0), shop/job (its controller cannot compute it)\n    → let each allow one disruption',
    );
    expect(text).not.toContain('no eviction now');
  });

  test('that allow none now are named with their counts, and with unready pods that stay', () => {
    expect(
      budgets({ currentHealthy: 1, evictsUnhealthy: 'always' }, { name: 'shop/api', currentHealthy: 0 }),
    ).toContain(
      '! PodDisruptionBudgets allow no eviction now: shop/web (1 of 2 pods healthy, 1 needed), shop/api (0 of 2 pods healthy, 1 needed, its unready pods are not evicted either)\n',
    );
  });

  test('that allow an eviction, or select no pod, are not named', () => {
    expect(budgets({ disruptionsAllowed: 1 }, { expectedPods: 0, desiredHealthy: 0 })).toBe('');
  });

  test('that select the same pod make every eviction of it fail', () => {
    const twiceBudgeted = { value: [{ node: 'w1', pod: 'shop/web-1', budgets: ['all', 'web'] }] };
    expect(textOf({ twiceBudgeted })).toContain('with an error (500): shop/web-1 (all, web)\n');
    expect(textOf({ twiceBudgeted }, ['w2'])).not.toContain('shop/web-1');
  });
});

describe('pods that a drain costs something', () => {
  const pod = (name: string, ...traits: EvictedPod['traits']): EvictedPod => ({ node: 'w1', pod: `a/${name}`, traits });

  test('are named for each loss, at most five', () => {
    const many = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'].map((name) => pod(name, 'empty-dir'));
    const text = textOf(pods(pod('alone', 'no-controller', 'empty-dir'), ...many));
    expect(text).toContain('! pods have no controller, so a drain deletes them for good: a/alone (w1)\n');
    expect(text).toContain(
      '! pods lose the data of their emptyDir volumes: a/alone (w1), a/p1 (w1), a/p2 (w1), a/p3 (w1), a/p4 (w1) and 3 more\n',
    );
  });

  test('stay away with a volume of the node, and may return if they tolerate a cordon', () => {
    const text = textOf(pods(pod('db-0', 'local-volume'), pod('agent', 'tolerates-cordon')));
    expect(text).toContain(
      '! pods have a volume on their node, so they stay away until the node is back: a/db-0 (w1)\n',
    );
    expect(text).toContain('! pods tolerate a cordon');
  });

  test('are not named if their node is not drained', () => {
    expect(textOf(pods(pod('alone', 'no-controller')), ['w2'])).not.toContain('a/alone');
  });
});

describe('webhooks with failurePolicy Fail', () => {
  const hook = (name: string, over: Partial<FailingWebhook> = {}): FailingWebhook => ({
    ...{ kind: 'ValidatingWebhookConfiguration', configuration: 'guards', name, endpoint: 'ready' },
    ...over,
  });

  test('are a warning without a ready endpoint, and a note with one', () => {
    const value = [
      hook('dead.example', { service: 'hooks/dead', endpoint: 'none' }),
      hook('well.example', { service: 'hooks/well' }),
      hook('away.example', { endpoint: 'url' }),
    ];
    const text = textOf({ webhooks: { value } });
    expect(text).toContain(
      '! webhooks with failurePolicy Fail have no ready endpoint: dead.example (service hooks/dead)\n',
    );
    expect(text).toContain('- webhooks with failurePolicy Fail: well.example (service hooks/well);');
    expect(text).not.toContain('away.example');
  });
});

describe('deprecated APIs in use', () => {
  const apis = (byHost: Readonly<Record<string, readonly DeprecatedApi[]>>): Partial<UpgradeView> => ({
    deprecatedApis: new Map(Object.entries(byHost).map(([host, value]) => [host, { value }])),
  });

  test('that the desired version does not serve are errors, others are notes; each names its API servers', () => {
    const text = textOf(
      apis({
        cp1: [apiOf('1.38', { group: 'resource.k8s.io', resource: 'resourceclaims', subresource: 'status' })],
        cp2: [
          apiOf('1.37'),
          apiOf('1.38', { group: 'resource.k8s.io', resource: 'resourceclaims', subresource: 'status' }),
        ],
        cp3: [apiOf('1.37')],
      }),
    );
    expect(text.split('\n').filter((line) => /^[✖-]/.test(line))).toEqual([
      '✖ networking.k8s.io/v1beta1 ipaddresses is not served by 1.37 any more (requested on cp2, cp3)',
      '- resource.k8s.io/v1beta1 resourceclaims/status is removed in 1.38 (requested on cp1, cp2)',
    ]);
  });

  test('that no release removes yet are left out', () => {
    expect(textOf(apis({ cp1: [apiOf('', { group: '', version: 'v1', resource: 'endpoints' })] }))).toBe('');
  });

  test('are unknown on an API server that does not answer', () => {
    const deprecatedApis = new Map([['cp2', { unknown: 'cp2: could not tell deprecatedApis: connection refused' }]]);
    expect(textOf({ deprecatedApis })).toContain('? unknown: cp2: could not tell deprecatedApis: connection refused\n');
  });
});

describe('addons', () => {
  test('that were edited are overwritten, with the way to keep the edit', () => {
    const coreDnsEdits = [{ manager: 'kubectl-edit', fields: ['affinity', 'containers[coredns].resources'] }];
    const text = textOf({ addons: { value: { coreDnsEdits, comesBack: [] } } });
    expect(text).toContain(
      '! kubeadm overwrites what was edited in Deployment kube-system/coredns: affinity, containers[coredns].resources (by kubectl-edit)\n',
    );
    expect(text).toContain('patch corednsdeployment.yaml');
  });

  test('that were deleted come back, with the way to keep them away', () => {
    const text = textOf({ addons: { value: { coreDnsEdits: 'absent', comesBack: ['CoreDNS', 'kube-proxy'] } } });
    expect(text).toContain('! kubeadm creates CoreDNS again');
    expect(text).toContain('set `dns.disabled: true`');
    expect(text).toContain('set `proxy.disabled: true`');
  });

  test('whose owner the API does not tell are unknown, not unedited', () => {
    expect(textOf({ addons: { value: { coreDnsEdits: 'unknown', comesBack: [] } } })).toContain(
      '? unknown: who set the fields of Deployment kube-system/coredns',
    );
  });
});

test('a cordon of the operator and a lock of kured are named', () => {
  const text = textOf({
    nodes: { value: { names: ['w1', 'w2'], cordonedByOperator: ['w2'] } },
    kured: { value: { locks: [{ node: 'w1', since: '2026-11-20T03:00:00Z' }] } },
  });
  expect(text).toContain('- cordoned by an operator, and cordoned afterwards: w2\n');
  expect(text).toContain('! kured holds its lock for w1 (since 2026-11-20T03:00:00Z)\n');
});

test('the JSON of a view has every name, and the reason of an unknown part', () => {
  const view = viewOf({
    evictions: {
      value: { perNode: new Map([['w1', 3]]), pods: [{ node: 'w1', pod: 'a/b', traits: ['empty-dir'] }] },
    },
    budgets: { value: [budgetOf({ desiredHealthy: 2 })] },
    deprecatedApis: new Map([['cp2', { unknown: 'cp2: could not tell deprecatedApis: connection refused' }]]),
  });
  const meets = upgradeViewJson(view);
  expect(
    faultsIn('upgrade-plan', {
      cluster: 'a',
      hops: [],
      changes: [],
      restarts: [],
      meets,
      notes: ['a'],
      missingDownloads: [],
    }),
  ).toEqual([]);
  expect(JSON.parse(JSON.stringify(meets))).toMatchObject({
    evictions: { perNode: { w1: 3 }, pods: [{ node: 'w1', pod: 'a/b', traits: ['empty-dir'] }] },
    podDisruptionBudgets: [{ name: 'shop/web', neverAllows: true }],
    deprecatedApis: { cp2: { unknown: 'cp2: could not tell deprecatedApis: connection refused' } },
    kured: 'absent',
  });
});
