import { type Fleet, linuxFacts } from '../cluster/fleet/fleet.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { type Check, type CheckGroup, eachHost, type Finding, type HostFinding } from '../engine/check.ts';
import { KbuildError, mayBeGone } from '../errors.ts';
import { addressesOf } from '../inventory/addresses.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Firewall } from './firewalld.facts.ts';
import { closedOpenings, openingsText } from './openings.ts';
import { listeningPorts } from './openings.value.ts';
import type { Blocked } from './ports.survey.ts';

const where = ({ kind, place }: Firewall): string => `${kind}${place === kind ? '' : ` (${place})`}`;

const firewall = eachHost(
  {
    name: 'firewall',
    title:
      'ufw, firewalld or nftables let in the ports of the role from the hosts that need them, VRRP between ' +
      'balancers, and pods through',
    why:
      'What is missing is listed by port. kbuild changes no firewall unless the inventory says `firewall: open`: ' +
      'then `up` opens it, for the hosts and pods of the inventory alone, keeps it open over reboots, and ' +
      '`reset` takes it back. Port 6443 for people elsewhere and NodePorts stay yours. Rules that kbuild cannot ' +
      'read (jumps, sets) make it a warning: the port matrix (`check --active`) tells for sure.',
    severities: ['error', 'warning', 'due'],
  },
  ({ inventory, host, facts }): readonly HostFinding[] => {
    if (hasKubelet(facts)) return [];
    return facts.firewall.flatMap((found): readonly HostFinding[] => {
      const closed = closedOpenings(inventory, host, found);
      if (closed.length === 0) return [];
      const verb = found.hook === 'input' ? 'let in' : 'let through';
      const message = `${where(found)} does not ${verb} ${openingsText(closed)}`;
      if (inventory.firewall === 'open') return [{ severity: 'due', message }];
      return [
        {
          severity: found.obscure ? 'warning' : 'error',
          message,
          remedy: 'open it for the other hosts and podSubnet, or let up do it: firewall: open in the inventory',
        },
      ];
    });
  },
);

/**
 * True where `up` will open the way: the host's own firewall keeps it closed, and the inventory says `firewall: open`.
 */
function upOpens(inventory: Inventory, fleet: Fleet, { way, from }: Blocked): boolean {
  if (inventory.firewall !== 'open') return false;
  return (linuxFacts(fleet, way.to)?.firewall ?? []).some((firewall) =>
    closedOpenings(inventory, way.to, firewall).some(
      ({ ports, protocol, from: source }) =>
        ports[0] === way.port && protocol === way.protocol && addressesOf(from).includes(source),
    ),
  );
}

const key = ({ way, how }: Blocked): string =>
  `${way.to.name} ${way.protocol} ${String(way.port)} ${way.program} ${how}`;

const portMatrix: Check = {
  name: 'port-matrix',
  title: 'every port of every role is reached by the hosts that need it',
  why:
    'A survey (`check --active`, and before the first change of fresh hosts): kbuild listens on every needed ' +
    'port that is free, TCP and the overlay\'s UDP, and connects from every host that will. "refused" comes from ' +
    'a firewall that rejects, "no answer" from one that drops, on the host or between the hosts (security ' +
    'groups).',
  severities: ['error', 'warning', 'due'],
  test: ({ inventory, fleet }) => {
    const { surveys } = fleet;
    if (surveys === undefined) return [];
    const due = surveys.ports.blocked.filter((one) => upOpens(inventory, fleet, one));
    const groups = byKey(surveys.ports.blocked.filter((one) => !due.includes(one)));
    return [
      ...surveys.ports.failed.map(({ host, reason }) => ({
        severity: 'unknown' as const,
        host: host.name,
        message: `could not try the ways between hosts: ${reason}`,
      })),
      ...[...groups.values()].map((blocked) => {
        const [{ way, how }] = blocked as [Blocked];
        const names = blocked.map(({ from }) => from.name).join(', ');
        return {
          severity: 'error' as const,
          host: way.to.name,
          message: `${way.protocol} port ${String(way.port)} (${way.program}) cannot be reached from ${names}: ${how}`,
          remedy: 'open it in the firewalls of the host and between the hosts',
        };
      }),
      ...surveys.ports.unverified.map(({ to, port, program }) => ({
        severity: 'warning' as const,
        host: to.name,
        message: `udp port ${String(port)} (${program}) was not tried: it is in use, and is not disturbed`,
      })),
      ...[...byKey(due).values()].map((blocked) => {
        const [{ way }] = blocked as [Blocked];
        return {
          severity: 'due' as const,
          host: way.to.name,
          message:
            `${way.protocol} port ${String(way.port)} (${way.program}) is closed by the host's firewall, which ` +
            'up opens',
        };
      }),
    ];
  },
};

function byKey(all: readonly Blocked[]): ReadonlyMap<string, readonly Blocked[]> {
  const groups = new Map<string, Blocked[]>();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}

/** The ports of a host's role are free. A host that kubeadm has worked on has its own programs there. */
const ports = eachHost(
  {
    name: 'ports',
    title: 'the TCP and UDP ports of the role are free',
    why:
      'Only on hosts that kubeadm has not worked on; there its own programs listen. Stop the program that is ' +
      'named, or move it to another port.',
    severities: ['error'],
  },
  ({ inventory, host, facts }) => {
    if (facts.kubernetesTraces.size > 0) return [];
    return listeningPorts(inventory, host).flatMap(({ port, protocol, program }) => {
      const holder = facts.listeners.find((one) => one.port === port && one.protocol === protocol);
      // The load balancer's own program: its configuration decides which ports it serves.
      if (holder === undefined || (holder.process === program && program === 'haproxy')) return [];
      const number = holder.pid === undefined ? '' : ` (process ${String(holder.pid)})`;
      const who = holder.process === 'unknown' ? 'an unknown process' : `${holder.process}${number}`;
      return [
        {
          severity: 'error' as const,
          message: `${protocol} port ${port}, which ${program} needs, is held by ${who} at ${holder.address}`,
          remedy: `stop ${who}, or find out with: ss -lnp 'sport = :${port}'`,
        },
      ];
    });
  },
);

const dead = ({ name }: Host): string =>
  `or, if it is gone, add \`--dead ${name}\`: then only what needs every control plane waits`;

function finding({ host, error, isDead }: Fleet['unreachable'][number], { cluster }: Fleet): Finding {
  const left = host.role === 'worker' || isDead === true;
  const own = error instanceof KbuildError ? error.remedy : undefined;
  const canDoWithout = cluster.state !== 'absent' && mayBeGone(error);
  const remedies = left
    ? [own ?? 'make it reachable', 'this run leaves it out']
    : [own ?? 'make it reachable', ...(canDoWithout ? [dead(host)] : [])];
  return {
    severity: left ? 'warning' : 'unknown',
    host: host.name,
    message: error.message.replace(`${host.name}: `, ''),
    remedy: remedies.join('; '),
  };
}

export const reachable: Check = {
  name: 'reachable',
  title: 'every host answers',
  why:
    'A worker that does not answer is left out of the run, which then ends with exit 3. A control plane, an etcd ' +
    'host or a load balancer that does not answer stops the run (exit 3) before anything is changed: make it ' +
    "reachable, or add `--dead NAME`. With `--dead`, labels, workers and manifests go on. Changes of etcd's " +
    'members, restarts of what other control planes live on, and edited settings of the control plane wait until ' +
    'the host is back, or was removed with `kbuild remove NAME --dead NAME`.',
  severities: ['warning'],
  test: ({ fleet }) => fleet.unreachable.map((one) => finding(one, fleet)),
};

export const firewallChecks: CheckGroup = { host: [firewall, ports], survey: [portMatrix] };
