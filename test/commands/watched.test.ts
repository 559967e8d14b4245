import { describe, expect, test } from 'vitest';
import { type Fleet, type Kind, observedHost } from '../../src/cluster/fleet/fleet.ts';
import { STANDING_WATCHES } from '../../src/cluster/standing.ts';
import { checks } from '../../src/commands/every.checks.ts';
import { everyPhase, watchedOn } from '../../src/commands/every.phases.ts';
import { up } from '../../src/commands/up.phases.ts';
import { plan } from '../../src/engine/plan.ts';
import { type Step, type Target, watchesOf } from '../../src/engine/step.ts';
import { FactError, Refused } from '../../src/errors.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import type { Host, Inventory } from '../../src/inventory/inventory.ts';
import { CONTAINER_RUNTIMES } from '../../src/runtime/runtimes.value.ts';
import { onceForEach } from '../../src/shell/memo.ts';
import { Secret } from '../../src/shell/secret.ts';
import { united, type Watched, type Watches } from '../../src/shell/watched.ts';
import type { WindowsFiles } from '../../src/windows/files.facts.ts';
import { CA, clusterOf, nodeOf, podOf } from '../fakes/cluster.ts';
import { GUARDED_FIXTURES, OTHER_FIXTURES } from '../fakes/facts.ts';
import { fleet } from '../fakes/fleet.ts';
import { hosts, inventory, linuxHost, windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';

const [cp1, w1] = hosts as [(typeof hosts)[number], (typeof hosts)[number]];
const policy = { path: '/etc/kubernetes/pki/audit-policy.yaml', content: 'x', mode: 0o600, hosts: ['cp1'] };
const keepalived = { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 } as const;
const user = { endpoints: ['https://10.0.0.41:2379'], ca: 'CA', cert: 'CERT', key: Secret.of('KEY') };
const etcd1 = linuxHost('etcd1', { address: '10.0.0.41', role: 'etcd' });
const win1 = windowsHost('win1');
const { downloads } = win1.windows;
const nssm = windowsHost('win1', {
  windows: {
    ...win1.windows,
    serviceManager: 'nssm',
    hyperv: 'on',
    downloads: { ...downloads, nssm: 'https://files.example', network: 'https://files.example' },
  },
});
const lb1 = linuxHost('lb1', { address: '10.0.0.51', role: 'load-balancer' });

const INVENTORIES: Readonly<Record<string, Inventory>> = {
  stacked: inventory({ files: [policy], firewall: 'open' }),
  keepalived: inventory({ loadBalancer: keepalived, hosts: [cp1, w1, lb1] }),
  'kube-vip': inventory({ loadBalancer: { kind: 'kube-vip', address: '10.0.0.100', port: 6443, image: 'kube-vip' } }),
  'etcd of the user': inventory({ etcd: { topology: 'external', ...user } }),
  'etcd built by kbuild': inventory({
    etcd: { topology: 'built', endpoints: ['https://10.0.0.41:2379'] },
    hosts: [cp1, w1, etcd1],
  }),
  'hosts with chrony': inventory({
    hosts: [
      cp1,
      { ...w1, timeSync: { kind: 'chrony', servers: ['10.0.0.5'] } },
      linuxHost('amazon1', { address: '10.0.0.62' }),
    ],
  }),
  'hosts without packages': inventory({
    hosts: [cp1, { ...w1, installFrom: 'binaries' }, linuxHost('flatcar1', { address: '10.0.0.61' })],
  }),
  'Windows hosts': inventory({ hosts: [cp1, win1], network: mixedFlannel() }),
  'Windows hosts, network as services': inventory({
    hosts: [cp1, nssm],
    network: mixedFlannel({ services: true }),
  }),
};

const FLATCAR = { id: 'flatcar', idLike: [], versionId: '4459.0.0', codename: '', prettyName: 'Flatcar' };

/** Systems of hosts that a test names after theirs. */
const SYSTEMS = {
  flatcar1: FLATCAR,
  amazon1: { id: 'amzn', idLike: [], versionId: '2023', codename: '', prettyName: 'Amazon Linux 2023' },
} as const;

const running = { load: 'loaded', active: 'active', enabled: 'enabled', startedMs: 1, needsDaemonReload: false };

/** Every host as a node of a live cluster of the inventory: its services run, behind a packet filter. */
function joined(given: Inventory): Fleet {
  const traces = (role: Host['role']): ReadonlySet<string> =>
    new Set([
      '/etc/kubernetes/kubelet.conf',
      '/etc/kubernetes/pki/ca.crt',
      ...(role === 'control-plane' ? ['/etc/kubernetes/admin.conf', '/etc/kubernetes/pki/ca.key'] : []),
    ]);
  return fleet({
    inventory: given,
    facts: Object.fromEntries(
      linuxHosts(given).map((host) => [
        host.name,
        {
          ...(host.name in SYSTEMS ? { osRelease: SYSTEMS[host.name as keyof typeof SYSTEMS] } : {}),
          kubernetesTraces: traces(host.role),
          caFingerprint: CA,
          kubeconfigCluster: { name: given.name, server: `https://${given.endpoint}` },
          kubeletHealthy: true,
          kubeletConfig: {},
          // Each has changed its runtime before, and a run was cut off.
          formerRuntimes: new Map(
            CONTAINER_RUNTIMES.filter(({ name }) => name !== given.runtime.name).map(({ name, paths }) => [
              name,
              [paths.config],
            ]),
          ),
          services: new Map(watchedOn(given)(host).units.map((unit) => [unit, running])),
          firewall: [
            { kind: 'nftables', hook: 'input', place: 'inet filter input', allowed: [], obscure: false } as const,
          ],
        },
      ]),
    ),
    cluster: clusterOf({
      name: given.name,
      nodes: given.hosts.map(({ name, role, internalAddress }) =>
        nodeOf({ name, role: role === 'control-plane' ? role : 'worker', internalAddress }),
      ),
      pods: [podOf({ name: 'api', labels: { component: 'kube-apiserver' }, startedMs: 1 })],
    }),
  });
}

/** Facts that are maps by name → what of `Watches` they are read for. */
const FACTS = {
  files: 'files',
  packages: 'packages',
  services: 'units',
  keyrings: 'keyrings',
  features: 'features',
  programs: 'programs',
} as const;

type Asked = Readonly<Record<string, ReadonlySet<string>>>;

const namesOf = (watched: Watched, list: keyof Watched): readonly string[] =>
  watched[list].map((one) => (typeof one === 'string' ? one : one.name));

/** A map that tells which names are asked for. */
class Noting extends Map<string, unknown> {
  readonly #note: (name: string) => void;
  constructor(found: Iterable<readonly [string, unknown]>, note: (name: string) => void) {
    super(found);
    this.#note = note;
  }
  override get(name: string): unknown {
    this.#note(name);
    return super.get(name);
  }
  override has(name: string): boolean {
    this.#note(name);
    return super.has(name);
  }
}

/** What the step at hand has asked for: thousands of steps share the facts that note it. */
let asking: Readonly<Record<string, Set<string>>> = {};

/** The facts of a host, which note what they are asked for. */
const notingOf = onceForEach((facts: object): object => {
  const noting = Object.defineProperties({}, Object.getOwnPropertyDescriptors(facts));
  for (const [fact, list] of Object.entries(FACTS)) {
    if (!(fact in facts)) continue;
    const found = (facts as Readonly<Record<string, ReadonlyMap<string, unknown> | WindowsFiles>>)[fact]!;
    const note = (name: string) => void asking[list]!.add(name);
    const at = (path: string) => {
      note(path);
      return (found as WindowsFiles).at(path);
    };
    const value = 'at' in found ? { ...found, at } : new Noting(found, note);
    Object.defineProperty(noting, fact, { value });
  }
  return noting;
});

/** The names that a step asks the facts of its own host about. A step that refuses has asked for what it needs. */
function askedBy(step: Step<Kind>, { facts, ...about }: Target<Kind>): Asked {
  asking = Object.fromEntries(Object.values(FACTS).map((list) => [list, new Set<string>()]));
  try {
    step.diff({ ...about, facts: notingOf(facts) } as never);
  } catch (error) {
    if (!(error instanceof Refused || error instanceof FactError)) throw error;
  }
  return asking;
}

/** Every step may ask whether kubeadm is there: on Windows hosts the step that installs it watches it. */
const STANDING = ['kubeadm'];

/** What of the asked names is not declared. */
const undeclared = (asked: Asked, watches: Watches): readonly string[] => {
  const declared = united([watches, STANDING_WATCHES]);
  return Object.entries(asked).flatMap(([list, names]) =>
    [...names].filter(
      (name) =>
        ![...namesOf(declared, list as keyof Watches), ...STANDING].includes(name) &&
        !(
          list === 'files' &&
          declared.trees.some((tree) => ['/', '\\'].some((separator) => name.startsWith(tree + separator)))
        ),
    ),
  );
};

/** One step on one host of a fleet. */
interface Case {
  readonly step: Step<Kind>;
  readonly target: Target<Kind>;
}

const fleets = onceForEach((given: Inventory): readonly Fleet[] => [
  fleet({ inventory: given }),
  fleet({ inventory: given, fixture: 'rocky-9-fresh' }),
  fleet({ inventory: given, fixture: 'opensuse-16.0-fresh' }),
  joined(given),
]);

/** Every step of every command on every host that it may change. */
const cases = onceForEach((given: Inventory): readonly Case[] =>
  fleets(given).flatMap((seen) =>
    everyPhase(given).flatMap(({ kind, hosts: its, steps }) =>
      its.flatMap((host) =>
        (steps as readonly Step<Kind>[]).map((step) => {
          const facts = kind === 'cluster' ? seen.cluster : observedHost(seen, host.name)!.facts;
          return { step, target: { inventory: given, host, facts, fleet: seen } };
        }),
      ),
    ),
  ),
);
const asked = onceForEach(({ step, target }: Case) => askedBy(step, target));

describe.each(Object.entries(INVENTORIES))('with an inventory: %s', (_, given) => {
  test('every step of every command asks its host only about what the step watches', () => {
    for (const one of cases(given))
      expect(undeclared(asked(one), watchesOf(one.step, one.target)), one.step.name).toEqual([]);
  });

  test('checks ask only about what is watched', () => {
    for (const seen of fleets(given))
      for (const check of checks) expect(() => check.test({ inventory: given, fleet: seen }), check.name).not.toThrow();
  });

  test('a host is observed for what checks and its own steps watch, and for nothing else', () => {
    for (const host of given.hosts) {
      const its = cases(given).filter(({ target }) => target.host === host);
      const declared = united([
        STANDING_WATCHES,
        ...checks.map(({ watches = {} }) => watches),
        ...its.map(({ step, target }) => watchesOf(step, target)),
      ]);
      const watched = watchedOn(given)(host);
      for (const list of Object.keys(watched) as (keyof Watched)[])
        expect(namesOf(declared, list), `${host.name}: ${list}`).toEqual(
          expect.arrayContaining([...namesOf(watched, list)]),
        );
    }
  });
});

test.each([...GUARDED_FIXTURES, ...OTHER_FIXTURES])(
  'on %s a plan shows its changes: no step reads a fact that was not observed',
  (fixture) => {
    const given = inventory({ proxy: { http: 'http://proxy:3128', https: 'http://proxy:3128', noProxy: [] } });
    const { changes, errors } = plan(up(given), given, fleet({ inventory: given, fixture }));
    expect(errors).toEqual([]);
    // openSUSE's own repositories have the runtime.
    expect(changes.filter(({ step }) => step === 'containerd-repository-source')).toHaveLength(
      fixture.startsWith('opensuse') ? 0 : given.hosts.length,
    );
    expect(changes.filter(({ step }) => step === 'containerd-package')).toHaveLength(given.hosts.length);
  },
);

test('every name that a step watches is probed', () => {
  const all = Object.values(INVENTORIES);
  const ofChecks = united(checks.map(({ watches = {} }) => watches));
  for (const list of Object.values(FACTS)) {
    const names = new Set(all.flatMap((given) => cases(given).flatMap((one) => [...asked(one)[list]!])));
    for (const name of namesOf(ofChecks, list)) names.add(name);
    const watched = all.flatMap((given) => given.hosts.flatMap((host) => namesOf(watchedOn(given)(host), list)));
    expect(new Set(watched.filter((name) => !names.has(name)))).toEqual(new Set());
  }
});
