import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { KUBEADM_AUTHORITIES } from '../../src/certificates/authorities.value.ts';
import { nearItsEnd } from '../../src/certificates/expiry.ts';
import type { Rotating } from '../../src/certificates/rotation.step.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import {
  recoverCertificatesPhases,
  renewAuthorityPhases,
  renewCertificatesPhases,
  rotateAuthorityPhases,
  ROTATION_PARTS,
} from '../../src/commands/certs.phases.ts';
import { watchedOn } from '../../src/commands/every.phases.ts';
import { moveEndpointPhases } from '../../src/commands/move-endpoint.phases.ts';
import { reboot } from '../../src/commands/reboot.phases.ts';
import { remove, reset } from '../../src/commands/remove.phases.ts';
import { restoreBackupPhases, restorePhases } from '../../src/commands/restore.phases.ts';
import { up } from '../../src/commands/up.phases.ts';
import { upgrade } from '../../src/commands/upgrade.phases.ts';
import type { Phase, Step } from '../../src/engine/step.ts';
import { controlPlanes, linuxHosts, withRole } from '../../src/inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import type { FromBackup } from '../../src/kubeadm/run-kubeadm.step.ts';
import { hopsThrough } from '../../src/upgrade/hop.ts';
import { CA, clusterOf, factsOf, joinedControlPlane, joinedWorker, nodeOf } from '../fakes/cluster.ts';
import { inventoryOf } from '../inventory/load.ts';
import { filesIn } from './files-in.ts';

const folder = new URL('../../inventories/', import.meta.url);

/** Files that an example names, which only its user has. */
const BESIDE = {
  'etcd-client/ca.crt': '-----BEGIN CERTIFICATE-----',
  'etcd-client/client.crt': '-----BEGIN CERTIFICATE-----',
  'etcd-client/client.key': '-----BEGIN PRIVATE KEY-----',
};

/** The versions of an upgrade of two hops. */
const OLD = '1.35.2';
const HOPS = hopsThrough(OLD, ['1.36.3', '1.37.1']);

/** One rotation of each kind: the cluster's authority, another one, and the key of service accounts. */
const ROTATIONS = [
  ['ca', 'forward'],
  ['front-proxy-ca', 'forward'],
  ['sa', 'back'],
] as const;

const nothing = () => Promise.resolve();
const drain = { timeoutMs: 1000 };

/** A cluster that all hosts of the inventory have joined, with Kubernetes of `OLD`. */
function joined(inventory: Inventory): Fleet {
  const facts = (host: LinuxHost) => {
    const name = {
      caFingerprint: CA,
      kubeconfigCluster: { name: inventory.name, server: `https://${inventory.endpoint}` },
    };
    if (host.role === 'load-balancer') return factsOf();
    if (host.role === 'control-plane') return joinedControlPlane(name);
    return joinedWorker({
      ...name,
      packages: new Map([['kubelet', { state: 'installed', version: OLD, held: true }]]),
    });
  };
  return {
    hosts: linuxHosts(inventory).map((host) => ({
      ...{ os: 'linux', host },
      facts: Object.assign(facts(host), { kubeletClient: { node: host.name }, bootId: 'now' }),
    })),
    unreachable: [],
    cluster: clusterOf({
      name: inventory.name,
      nodes: inventory.hosts
        .filter(({ role }) => role === 'control-plane' || role === 'worker')
        .map(({ name, role, internalAddress }) =>
          nodeOf({ name, internalAddress, kubeletVersion: OLD, role: role === 'worker' ? role : 'control-plane' }),
        ),
    }),
  };
}

/** Every command that has phases, with options that bring out all of them. */
function commandsOf(inventory: Inventory): Readonly<Record<string, readonly Phase[]>> {
  const fleet = joined(inventory);
  const linux = linuxHosts(inventory);
  const leaving = inventory.hosts.map((host) => ({ ...host, host }));
  const gone = [{ name: 'gone', internalAddress: '10.0.0.99', role: 'worker' as const }];
  const backup = { about: '', snapshot: '', taken: '', pki: {} } as FromBackup;
  const controls = controlPlanes(inventory);
  const members = inventory.etcd.topology === 'stacked' ? controls : withRole(inventory, 'etcd');
  const hops = { hops: HOPS, keep: nothing, losesPods: false };
  const rotations = ROTATIONS.flatMap(([name, direction]) =>
    ROTATION_PARTS.map((part) => {
      const rotating: Rotating = {
        ...{ name, direction, subject: 'new', keep: nothing, when: 'now' },
        ...{ workloads: 'restart', secretTokens: 'refuse' },
      };
      return [
        `certs rotate-ca ${name} ${direction}: ${part}`,
        rotateAuthorityPhases(inventory, rotating, part),
      ] as const;
    }),
  );
  return {
    up: up(inventory),
    upgrade: upgrade(inventory, fleet, { ...hops, drain, atOnce: 2 }),
    'upgrade --no-drain, one at once': upgrade(inventory, fleet, { ...hops, drain: 'no', atOnce: 1 }),
    'upgrade without hops': upgrade(inventory, fleet, { ...hops, hops: [], drain, atOnce: 2 }),
    reboot: reboot(
      inventory,
      { hosts: linux, from: new Map(linux.map(({ name }) => [name, 'now'])) },
      { drain, losesPods: false, atOnce: 2 },
      fleet,
    ),
    remove: remove(inventory, { leaving, drain, before: nothing }),
    'remove of a host that is gone': remove(inventory, { leaving: gone, drain, before: nothing }),
    reset: reset(inventory, {}),
    'certs renew': renewCertificatesPhases(inventory, nearItsEnd),
    'certs recover': recoverCertificatesPhases(inventory),
    'certs renew-ca': renewAuthorityPhases(
      inventory,
      new Map(KUBEADM_AUTHORITIES.map((name) => [name, new Set<string>()])),
      nothing,
    ),
    ...Object.fromEntries(rotations),
    'move-endpoint': moveEndpointPhases(inventory, fleet),
    restore: restoreBackupPhases(inventory, backup, { nodes: [] } as never, nothing, nothing),
    'etcd snapshot restore': restorePhases({ inventory, controls, members, snapshot: 'x.db', id: '' }),
    'etcd recover': restorePhases({ inventory, controls, members, snapshot: undefined, id: '' }),
  };
}

/** A step by its name, with what the engine makes of it. */
const stepOf = ({ name, needs, settleMs = 0 }: Step): string => {
  const more = [...(needs === undefined ? [] : [needs]), ...(settleMs === 0 ? [] : [`${String(settleMs / 1000)} s`])];
  return more.length === 0 ? name : `${name} (${more.join(', ')})`;
};

/** A phase with everything that decides what runs where and when. */
function phaseOf({ name, title, kind, hosts, steps, ...switches }: Phase): string {
  const said = Object.entries(switches).map(([key, value]) => (value === true ? key : `${key} ${String(value)}`));
  const about = [kind, hosts.map((host) => host.name).join(' '), ...said.toSorted()].join('; ');
  return `${name}: ${title}\n  ${about}\n  ${(steps as readonly Step[]).map(stepOf).join(', ')}`;
}

/** What the probes of each host read by name, because some step or check watches it. */
function watchedLines(inventory: Inventory): readonly string[] {
  const of = watchedOn(inventory);
  return inventory.hosts.map((host) => {
    const lists = Object.entries(of(host)).flatMap(([list, names]) =>
      names.length === 0
        ? []
        : [
            `${list}: ${names
              .map((one) => (typeof one === 'string' ? one : one.name))
              .toSorted()
              .join(' ')}`,
          ],
    );
    return `${host.name}\n  ${lists.join('\n  ')}`;
  });
}

/** The names of the inventories of the folder `inventories`, without their ending. */
export const exampleNames: readonly string[] = filesIn('inventories', '.yaml').map((name) => name.slice(0, -5));

/**
 * The phases and steps of every command for an example of the folder `inventories`, and what is watched on each of its hosts. A change of the code that
 * orders steps, and of nothing else, leaves it as it is.
 */
export async function phaseList(name: string): Promise<string> {
  const inventory = await inventoryOf(readFileSync(new URL(`${name}.yaml`, folder), 'utf8'), BESIDE);
  return [
    ...Object.entries(commandsOf(inventory)).map(
      ([command, phases]) => `# ${command}\n${phases.map(phaseOf).join('\n')}`,
    ),
    `# watched\n${watchedLines(inventory).join('\n')}`,
    '',
  ].join('\n\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  for (const name of exampleNames) console.log(`## ${name}\n\n${await phaseList(name)}`);
