import * as z from 'zod';
import { changes, cluster, document, flag, listOf, number, oneOf, restarts, text, texts } from './fields.ts';

/** A part of the cluster, or why it could not be observed. */
const part = <Value extends z.ZodType>(value: Value, description: string) =>
  z.union([value, z.object({ unknown: text('Why it could not be observed.') })]).meta({ description });

const budget = z.object({
  name: text('`namespace/name`'),
  disruptionsAllowed: number('As its controller counts them; so are the next three.'),
  currentHealthy: number('Pods.'),
  desiredHealthy: number('Pods.'),
  expectedPods: number('Pods.'),
  minAvailable: text('A number or a percentage.').exactOptional(),
  maxUnavailable: text('A number or a percentage.').exactOptional(),
  evictsUnhealthy: oneOf(['always', 'within-budget'], 'Whether unready pods can be evicted.'),
  reason: text('Of its condition DisruptionAllowed; empty without the condition.'),
  neverAllows: flag('True if no eviction can ever be allowed.'),
});

const meets = z.object({
  evictions: part(
    z.object({
      perNode: z.record(z.string(), z.number()).meta({ description: 'Pods by node; a node without any is missing.' }),
      pods: listOf(
        z.object({
          node: text('Where it runs.'),
          pod: text('`namespace/name`'),
          traits: z
            .array(z.enum(['no-controller', 'empty-dir', 'local-volume', 'tolerates-cordon']))
            .meta({ description: 'Why its drain costs something.' }),
        }),
        'Pods whose drain costs something.',
      ),
    }),
    'Pods that drains move.',
  ),
  podDisruptionBudgets: part(z.array(budget), 'Budgets that drains meet.'),
  podsWithSeveralBudgets: part(
    z.array(z.object({ node: text('Where it runs.'), pod: text('`namespace/name`'), budgets: texts('Their names.') })),
    'Pods that the API server cannot evict.',
  ),
  webhooks: part(
    z.array(
      z.object({
        kind: text('Validating or mutating.'),
        configuration: text('The object that has it.'),
        name: text('Its name.'),
        service: text('`namespace/name`; missing for a webhook by URL.').exactOptional(),
        endpoint: oneOf(['ready', 'none', 'url'], 'Whether its service has a ready endpoint; `url`: not known.'),
      }),
    ),
    'Webhooks whose failure fails requests.',
  ),
  deprecatedApis: z
    .record(
      z.string(),
      part(
        z.array(
          z.object({
            group: text('Empty for the core group.'),
            version: text('Its version.'),
            resource: text('What was requested.'),
            subresource: text('Empty for the resource itself.'),
            removedRelease: text('The first minor that does not serve it; empty if none removes it yet.'),
          }),
        ),
        'Deprecated APIs that were requested since the API server started.',
      ),
    )
    .meta({ description: 'By host of the API server.' }),
  unreadableObjects: part(
    z.array(
      z.object({
        api: text('As kubectl takes it: `Workload.v1alpha2.scheduling.k8s.io`.'),
        count: number('How many there are.'),
      }),
    ),
    'Objects of an alpha API that the newer Kubernetes cannot read.',
  ),
  addons: part(
    z.object({
      coreDnsEdits: z
        .union([
          z.array(z.object({ manager: text('Who.'), fields: texts('What.') })),
          z.literal('absent'),
          z.literal('unknown'),
        ])
        .meta({ description: "Who edited CoreDNS's Deployment." }),
      comesBack: z
        .array(z.enum(['CoreDNS', 'kube-proxy']))
        .meta({ description: 'Addons that were deleted and that kubeadm creates again.' }),
    }),
    'Addons that kubeadm writes again.',
  ),
  nodes: part(
    z.object({
      names: texts('All of them.'),
      cordonedByOperator: texts('Those that take no pods and that kbuild has not cordoned.'),
    }),
    'The nodes of the cluster.',
  ),
  kured: part(
    z.union([
      z.literal('absent'),
      z.object({
        locks: listOf(
          z.object({
            node: text('The node.'),
            since: text('RFC 3339.'),
            untilMs: number('When it ends, in ms since the epoch.').exactOptional(),
          }),
          'Nodes that it restarts.',
        ),
      }),
    ]),
    "kured's state.",
  ),
});

/** `kbuild upgrade --plan --json` */
export const upgradePlan = document('What `kbuild upgrade --plan --json` prints.', {
  cluster,
  hops: listOf(
    z.object({
      from: text('Missing where hosts come from different versions.').exactOptional(),
      version: text('Without `v`.'),
    }),
    'The versions that the upgrade passes.',
  ),
  changes,
  restarts,
  meets: meets.meta({ description: 'What the upgrade meets in the cluster.' }),
  notes: texts(
    'What else it does or leaves: certificates that it renews, flags that were written by hand, a network plugin ' +
      'that stays as it is.',
  ),
  missingDownloads: texts('What one host of each kind cannot download of the hops.'),
});

/** `kbuild etcd snapshot save --json` */
export const snapshot = document('What `kbuild etcd snapshot save --json` prints.', {
  file: text('The path of the snapshot.'),
  through: text('The host whose member gave it.'),
  revision: number("etcd's revision: the number of the last change in it."),
  keys: number('How many keys it holds.'),
  size: number('Bytes.'),
  version: text('Of the storage, e.g. `3.6.0`.'),
});

/** `kbuild etcd defragment --json` */
export const defragment = document('What `kbuild etcd defragment --json` prints. Sizes are in bytes.', {
  cluster,
  alarms: z.object({ before: texts('Before.'), after: texts('Afterwards.') }).meta({ description: "etcd's alarms." }),
  members: listOf(
    z.object({
      id: text('Hexadecimal.'),
      name: text('Its name in etcd.'),
      leader: flag('True for the leader.'),
      defragmented: flag('True if this run did it.'),
      dbSizeBefore: number('Missing where it is not known; so are the others.').optional(),
      dbSizeInUseBefore: number('What was used of it.').optional(),
      dbSize: number('Afterwards.'),
      dbSizeInUse: number('What is used of it.').optional(),
      dbSizeQuota: number('0 or less: none.').optional(),
    }),
    'Members of etcd.',
  ),
  warnings: listOf(
    z.object({ message: text('What was found.'), remedy: text('What to do.') }),
    'What is left of the quota, where it is little.',
  ),
});

/** `kbuild windows selftest --json` */
export const selftest = document('What `kbuild windows selftest --json` prints.', {
  cluster,
  os: oneOf(['windows', 'linux'], 'Whose pods were tried.'),
  rows: listOf(
    z.object({
      about: text('The tested group, e.g. `windows 10.0.20348`.'),
      flow: text('What was tried.'),
      result: oneOf(
        ['pass', 'fail', 'limit', 'not-tried'],
        '`limit`: Windows does not support it. `not-tried`: the cluster lacks what it needs.',
      ),
      why: text('Missing for pass.').exactOptional(),
    }),
    'Each connection that was tried.',
  ),
});
