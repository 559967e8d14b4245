import { describe, expect, test } from 'vitest';
import { parseAddons, parseKured } from '../../src/upgrade/addons.facts.ts';
import {
  allowsNoneNow,
  neverAllows,
  parseBudgets,
  parseDeprecatedApis,
  parseEvictions,
  parseWebhooks,
} from '../../src/upgrade/view-parts.facts.ts';

/** A budget by its row: allowed, healthy, needed and expected pods. */
const budget = (counts: string, reason = '-') =>
  parseBudgets(`default web ${counts} 1 <nil> <nil> ${reason} some app=web,`)[0]!;

describe('a PodDisruptionBudget', () => {
  test.each([
    ['needs all of its pods', budget('0 2 2 2'), { never: true, now: false }],
    ['needs more pods than there are', budget('0 1 3 1'), { never: true, now: false }],
    ['waits for an unhealthy pod', budget('0 1 1 2'), { never: false, now: true }],
    ['allows one', budget('1 2 1 2'), { never: false, now: false }],
    ['selects no pod', budget('0 0 1 0'), { never: false, now: false }],
    ['cannot be computed by its controller', budget('0 0 0 0', 'SyncFailed'), { never: true, now: false }],
  ])('that %s', (_, one, { never, now }) => {
    expect({ never: neverAllows(one), now: allowsNoneNow(one) }).toEqual({ never, now });
  });
});

describe("the Deployment of CoreDNS, by the API's managedFields", () => {
  const addons = (managedFields: string) =>
    parseAddons(`coredns found ${managedFields}\nkube-proxy found\nkind: ClusterConfiguration\n`).coreDnsEdits;
  const entry = (manager: string, spec: object) => ({ manager, fieldsV1: { 'f:spec': { 'f:template': spec } } });

  test('is not edited if only kubeadm and kbuild set fields of its pods', () => {
    const owners = [
      entry('kubeadm', { 'f:spec': { 'f:dnsPolicy': {} } }),
      entry('kbuild', { 'f:spec': { 'f:x': {} } }),
    ];
    expect(addons(JSON.stringify(owners))).toEqual([]);
  });

  test('is not edited by a restart of its rollout', () => {
    const restart = { 'f:metadata': { 'f:annotations': { 'f:kubectl.kubernetes.io/restartedAt': {} } } };
    const owners = [entry('kubeadm', { 'f:spec': { 'f:dnsPolicy': {} } }), entry('kubectl-rollout', restart)];
    expect(addons(JSON.stringify(owners))).toEqual([]);
  });

  test('is edited if another manager set an annotation of its pods', () => {
    const owners = [entry('helm', { 'f:metadata': { 'f:annotations': { '.': {}, 'f:scrape': {} } } })];
    expect(addons(JSON.stringify(owners))).toEqual([{ manager: 'helm', fields: ['annotations[scrape]'] }]);
  });

  test.each(['', '[]', '[{"manager":"kubectl","fieldsV1":{"f:spec":{"f:replicas":{}}}}]'])(
    'is unknown if no manager of its pods is noted: %j',
    (text) => {
      expect(addons(text)).toBe('unknown');
    },
  );
});

test('addons are unknown without a ClusterConfiguration', () => {
  expect(() => parseAddons('coredns \nkube-proxy \n\n')).toThrow('kubeadm-config has no ClusterConfiguration');
});

describe("kured's lock", () => {
  test('may be several locks', () => {
    const lock = (node: string) => ({ nodeID: node, metadata: {}, created: '2026-11-20T03:00:00Z', TTL: 0 });
    expect(parseKured(`found ${JSON.stringify({ maxOwners: 2, locks: [lock('w1'), lock('w2')] })}`)).toEqual({
      locks: [
        { node: 'w1', since: '2026-11-20T03:00:00Z' },
        { node: 'w2', since: '2026-11-20T03:00:00Z' },
      ],
    });
  });

  test('is free if the annotation is missing', () => {
    expect(parseKured('found ')).toEqual({ locks: [] });
  });

  test('is unknown in another form', () => {
    expect(() => parseKured('found {"holder":"w1"}')).toThrow();
    expect(() => parseKured('found w1')).toThrow();
  });
});

test.each([
  ['pods', () => parseEvictions('Error from server')],
  ['the count of pods', () => parseEvictions('node w1 <nil>')],
  ['budgets', () => parseBudgets('default web 0')],
  ['webhooks', () => parseWebhooks('hook ValidatingWebhookConfiguration guards')],
  ['metrics that end early', () => parseDeprecatedApis('')],
  ['a metric', () => parseDeprecatedApis('apiserver_requested_deprecated_apis{group=""}\nend\n')],
])('output that kbuild does not understand is unknown, never empty: %s', (_, parse) => {
  expect(parse).toThrow();
});
