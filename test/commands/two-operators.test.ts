/**
 * Two operators at the same moment: one command waits for its answer while another one changes the cluster. Every command that changes hosts asks
 * its own refusals again under the locks. Its plan is a given one here: what refuses is asked before any step.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { commands } from '../../src/commands/commands.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import type { Command, CommandGroup } from '../../src/session/command.ts';
import type { Context } from '../../src/session/context.ts';
import type { Run } from '../../src/session/run.ts';
import { filesIn } from '../tools/files-in.ts';
import { quietContext } from './quiet-context.ts';
import { authoritiesWith, madeAuthority } from '../fakes/authorities.ts';
import {
  CA,
  clusterOf,
  cp1,
  cp2,
  cp3,
  inventoryOf,
  joinedControlPlane,
  joinedWorker,
  memberOf,
  nodesOf,
  podOf,
  w1,
  w2,
} from '../fakes/cluster.ts';
import { fleet as fleetWith } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';

const seen = { converged: 0, run: undefined as unknown, members: [] as readonly string[] };
const LOCK = { lost: new Promise(() => undefined), held: () => Promise.resolve(0), usedBefore: new Map() };
const change = { summary: 'change it', apply: () => Promise.resolve() };
/** What `restore` brings back. Its machines of that time are those of the inventory. */
const BACKUP = {
  cluster: 'demo',
  ca: CA,
  taken: '2026-11-27T12:00:00Z',
  kubernetes: '1.36.3',
  controlPlanes: [],
  workers: [],
  etcd: { topology: 'stacked', members: [] },
};
const PLANNED = ['p', 'canary', 'workers-2'].map((phase) => ({
  phase,
  host: 'w1',
  step: 's',
  summary: 'change it',
  change,
}));

/** What talks to hosts, and what makes the plan. The other files of this project share its modules, so nothing of it may stay. */
const MOCKED: Readonly<Record<string, (original: () => Promise<object>) => object>> = {
  'session/with-run': async (original) => ({
    ...(await original()),
    withRun: (_: unknown, flags: object, { command }: { readonly command: string }, work: (run: unknown) => unknown) =>
      work({ ...(seen.run as object), flags, command }),
  }),
  'session/locks': async (original) => ({
    ...(await original()),
    withLocks: (_: unknown, _replaces: unknown, work: (lock: unknown) => unknown) => work(LOCK),
  }),
  'engine/plan': async (original) => ({
    ...(await original()), // The repair before an upgrade has nothing to do.
    plan: (phases: readonly { readonly name: string }[]) => ({
      changes: phases.length === 1 && phases[0]!.name === 'repair' ? [] : PLANNED,
      errors: [],
    }),
  }),
  'engine/converge': () => ({
    converge: () => {
      seen.converged += 1;
      return Promise.resolve({ changes: 1, failures: new Map(), stopped: undefined });
    },
  }),
  'session/preflight': async (original) => ({
    ...(await original()),
    findings: () => [],
    surveyFirstChanged: () => Promise.resolve(),
  }),
  'commands/kubeconfig': async (original) => ({
    ...(await original()),
    checkKubeconfigPath: () => Promise.resolve(),
    forgetCluster: () => Promise.resolve(),
    kubeconfigPath: () => '/k',
    writeKubeconfig: () => Promise.resolve(),
  }),
  'commands/upgrade-plan': async (original) => ({
    ...(await original()),
    ...{ hopsText: () => '', viewOf: () => Promise.resolve({ text: '' }) },
  }),
  'commands/backup-file': async (original) => ({
    ...(await original()),
    withOpenedBackup: (_: unknown, _flags: unknown, _file: unknown, use: (opened: unknown) => unknown) =>
      use({ manifest: BACKUP, inventory: (seen.run as Run).inventory, contents: new Map(), snapshot: '/s.db' }),
  }),
  'backup/restore.refusal': async (original) => ({ ...(await original()), backupRefusals: () => [] }),
  'etcd/snapshot': async (original) => ({ ...(await original()), authoritiesIn: () => Promise.resolve(new Set([CA])) }),
  'etcd/restore-members': async (original) => ({
    ...(await original()),
    otherMembers: () => Promise.resolve(seen.members.map((name) => ({ name, peerUrl: '', state: 'silent' }))),
    livingHosts: () => Promise.resolve([]),
  }),
};
let runCommand: (command: string, context: Context) => Promise<number>;

beforeAll(async () => {
  vi.resetModules();
  for (const [path, make] of Object.entries(MOCKED))
    vi.doMock(`../../src/${path}.ts`, (original) => make(original<object>));
  ({ runCommand } = await import('./commands-by-name.ts'));
});
afterAll(() => {
  for (const path of Object.keys(MOCKED)) vi.doUnmock(`../../src/${path}.ts`);
  vi.resetModules();
});

const hosts = [cp1, cp2, cp3, w1, w2];
const current = madeAuthority('kubernetes');
const fresh = madeAuthority('kubernetes-20261127t120000z');
const one = authoritiesWith({
  ca: { bundle: [current], keys: { current: current.fingerprint } },
  'front-proxy-ca': { bundle: [current], keys: { current: current.fingerprint } },
  'etcd-ca': { bundle: [current], keys: { current: current.fingerprint } },
});
const both = authoritiesWith(
  {
    ca: {
      bundle: [current, fresh],
      beside: { old: current, fresh, signing: current },
      keys: { current: 'k', old: 'k', fresh: 'n', signing: 'k' },
    },
  },
  { signing: '/etc/kubernetes/pki/ca-signing.crt' },
);

const factsOf = (host: LinuxHost, over: Partial<LinuxFacts>): Partial<LinuxFacts> => ({
  ...(host.role === 'control-plane' ? joinedControlPlane() : joinedWorker()),
  authorities: one,
  interfaces: [{ name: 'eth0', addresses: [host.internalAddress], mac: '', mtu: 1500 }],
  kubeletConfig: {},
  cgroupVersion: 2,
  pendingReboot: ['linux-image'],
  ...over,
});

interface World {
  readonly cluster?: Partial<Extract<ClusterView, { state: 'up' }>> | ClusterView;
  readonly facts?: Readonly<Record<string, Partial<LinuxFacts>>>;
}

const COMPONENTS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const podsAt = (versions: readonly string[]) =>
  [cp1, cp2, cp3].flatMap(({ name }, at) =>
    COMPONENTS.map((component) =>
      podOf({
        name: `${component}-${name}`,
        node: name,
        labels: { component, tier: 'control-plane' },
        images: [`registry.k8s.io/${component}:v${versions[at] ?? versions[0]!}`],
      }),
    ),
  );

const fleetIn = (inventory: Inventory, { cluster = {}, facts = {} }: World): Fleet =>
  fleetWith({
    inventory,
    cluster:
      cluster.state === 'down' || cluster.state === 'absent'
        ? cluster
        : clusterOf({
            nodes: nodesOf(...hosts),
            settings: settingsOf(inventory),
            pods: podsAt(['1.36.3']),
            members: [memberOf(1), memberOf(2), memberOf(3)],
            apiServers: new Map([cp1, cp2, cp3].map(({ name }) => [name, 'ok'])),
            ...(cluster as object),
          }),
    facts: Object.fromEntries(hosts.map((host) => [host.name, factsOf(host, facts[host.name] ?? {})])),
  });

/** What the other operator's command left behind while this one waited for its answer. */
const LEFT: Readonly<Record<string, World>> = {
  'an edit of addresses': {
    facts: {
      cp1: { kubeletClient: { node: 'cp3' } },
      cp2: { kubeletClient: { node: 'cp1' } },
      cp3: { kubeletClient: { node: 'cp2' } },
    },
  },
  'an upgrade': {
    cluster: { version: '1.37.1', pods: podsAt(['1.37.1', '1.36.3', '1.36.3']) },
    facts: { cp1: { marker: { cluster: 'demo', action: 'upgrade', job: 'x', stage: 'begun' } } },
  },
  'certs rotate-ca': { facts: Object.fromEntries(['cp1', 'cp2', 'cp3'].map((name) => [name, { authorities: both }])) },
  'a restore': {
    facts: { cp1: { marker: { cluster: 'demo', action: 'restore', job: 'x', stage: 'begun', about: 'y' } } },
  },
  'the removal of a member': {
    cluster: { members: [memberOf(1), memberOf(3, { healthy: true }), memberOf(2, { healthy: false })] },
  },
  'a quorum that is back': {},
  'a cluster that answers again': {},
};

const ALL = ['an edit of addresses'];
/** New hosts, after all control planes were lost. */
const LOST: World = {
  cluster: { state: 'absent' },
  facts: Object.fromEntries(hosts.map(({ name }) => [name, { kubernetesTraces: new Set<string>() }])),
};
/** What comes to life while a command waits that needs a cluster that does not answer. */
const ANSWERS: ReadonlySet<string> = new Set(['a quorum that is back', 'a cluster that answers again']);
/** Commands that change hosts, and take no part in the table: why two operators cannot meet in them. */
const OUTSIDE: Readonly<Record<string, string>> = {
  backup: 'reads under the locks of all hosts, and asks nothing',
  'etcd snapshot save': 'reads under the locks of all hosts, and asks nothing',
  'etcd defragment':
    'observes again under the locks of all hosts; changes no member and no setting (test/etcd/defragment.test.ts)',
  kubectl: 'changes what kubectl is told to; kbuild itself changes nothing',
  proxy: 'changes what its clients ask for; kbuild itself changes nothing',
  'windows selftest': 'changes no host: it makes one namespace, and deletes it',
  unlock: 'exists to end the lock of another run (test/lab/scenarios/cluster.test.ts)',
};
/** Each command that changes hosts: what it is run on, and what it refuses under the locks. */
const COMMANDS: readonly { readonly command: string; readonly at?: World; readonly refuses: readonly string[] }[] = [
  { command: 'up', refuses: [...ALL, 'a restore'] },
  { command: 'reboot', refuses: [...ALL, 'a restore'] },
  { command: 'upgrade', refuses: [...ALL, 'certs rotate-ca', 'a restore'] },
  { command: 'remove cp3', refuses: [...ALL, 'the removal of a member'] },
  { command: 'reset', refuses: ALL },
  { command: 'reset --hosts cp3', refuses: [...ALL, 'the removal of a member'] },
  { command: 'certs renew', refuses: ALL },
  { command: 'certs recover', refuses: ALL },
  { command: 'certs renew-ca', refuses: [...ALL, 'an upgrade', 'a restore'] },
  { command: 'certs rotate-ca', refuses: [...ALL, 'an upgrade', 'a restore'] },
  { command: 'certs rotate-ca front-proxy-ca', refuses: [...ALL, 'an upgrade', 'a restore', 'certs rotate-ca'] },
  { command: 'move-endpoint', refuses: [...ALL, 'an upgrade', 'a restore', 'certs rotate-ca'] },
  { command: 'restore', at: LOST, refuses: ['a cluster that answers again'] },
  { command: 'etcd snapshot restore', refuses: ALL },
  {
    command: 'etcd recover',
    at: { cluster: { state: 'down', reason: 'no quorum' } },
    refuses: [...ALL, 'a quorum that is back'],
  },
];

/** Runs a command; `meanwhile`: what it observes once the operator has answered so many questions. */
async function ran(command: string, at: World, meanwhile: World, questions = 1): Promise<number> {
  const inventory = inventoryOf({
    hosts,
    ...(command === 'move-endpoint' ? { endpoint: 'new.example:6443' } : {}),
    ...(command.startsWith('upgrade')
      ? { kubernetes: { ...inventoryOf().kubernetes, version: '1.37.1', minor: '1.37' } }
      : {}),
  });
  seen.members = command === 'etcd recover' ? ['cp2', 'cp3'] : [];
  let world = at;
  let fleet: Fleet | undefined;
  let answered = 0;
  const answer = (): Promise<string> => {
    answered += 1;
    if (answered >= questions) world = meanwhile;
    fleet = undefined;
    return Promise.resolve('y');
  };
  const current = (): Fleet => (fleet ??= fleetIn(inventory, world));
  const { context } = quietContext();
  seen.run = {
    inventory,
    runId: 'run1',
    logPath: '/log',
    context: {
      ...context,
      canAsk: true,
      ask: (question: string) => answer().then(() => /^Type (\S+)/.exec(question)?.[1] ?? 'y'),
    },
    connected: {
      on: recordingOn().on,
      remotes: [],
      observedAtMs: -60_000,
      observeAgain: () => Promise.resolve(),
      leaveOut: () => undefined,
      observations: { fleet: current, expire: () => undefined, expireCluster: () => undefined },
    },
    signal: new AbortController().signal,
    emit: () => undefined,
    note: () => undefined,
    beginWait: () => () => undefined,
    display: () => Promise.resolve(undefined),
  };
  return runCommand(command, context);
}

beforeEach(() => {
  seen.converged = 0;
});

describe.each(COMMANDS)(
  '$command, while another operator’s command changes the cluster',
  ({ command, at = {}, refuses }) => {
    test('goes on if nothing has changed', async () => {
      expect(await ran(command, at, at)).toBe(0);
      expect(seen.converged).toBeGreaterThan(0);
    });

    test.each(refuses)('is refused under the locks after %s', async (left) => {
      const later = { ...at, ...LEFT[left]!, ...(ANSWERS.has(left) ? { cluster: {} } : {}) };
      await expect(ran(command, at, later)).rejects.toMatchObject({ exitCode: 7 });
      expect(seen.converged).toBe(0);
    });
  },
);

test('an upgrade that has paused after its first worker is refused under the locks that it takes again', async () => {
  const paused = 'upgrade --pause-after-canary';
  expect(await ran(paused, {}, {})).toBe(0);
  expect(seen.converged).toBe(2);
  seen.converged = 0;
  await expect(ran(paused, {}, LEFT['certs rotate-ca']!, 2)).rejects.toMatchObject({ exitCode: 7 });
  expect(seen.converged).toBe(1);
});

test('every command that carries out a plan is in this table', () => {
  const folder = new URL('../../src/commands/', import.meta.url);
  const here = readFileSync(new URL('commands-by-name.ts', import.meta.url), 'utf8');
  const carriesOut = filesIn('src/commands', '.ts')
    .filter((file) => readFileSync(new URL(file, folder), 'utf8').includes('session/carry-out.ts'))
    .filter((file) => !here.includes(`/${file}'`));
  // What commands about authorities share.
  expect(carriesOut).toEqual(['authority-run.ts']);
});

test('every command that changes hosts is in this table, or stands beside it with its reason', () => {
  const changing = (all: readonly (Command | CommandGroup)[], above: readonly string[] = []): readonly string[] =>
    all.flatMap((each) => {
      const path = [...above, each.name];
      const itself = 'commands' in each ? each.itself : each;
      return [
        ...(itself?.onHosts === 'changes' ? [path.join(' ')] : []),
        ...('commands' in each ? changing(each.commands, path) : []),
      ];
    });
  const inTable = (name: string): boolean =>
    COMMANDS.some(({ command }) => command === name || command.startsWith(`${name} `));
  const names = changing(commands);
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => inTable(name) === (OUTSIDE[name] !== undefined))).toEqual([]);
  expect(Object.keys(OUTSIDE).filter((name) => !names.includes(name))).toEqual([]);
});
