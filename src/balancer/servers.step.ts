import { linuxFacts } from '../cluster/fleet/fleet.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { packages } from '../host/packages/packages.step.ts';
import { balancers, controlPlanes } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import type { BalancedServer } from './haproxy.facts.ts';

const MINUTES = 60_000;

/**
 * The program with which root talks to haproxy's control socket. A step of its own: haproxy's package is left as it is.
 */
export const balancerTools = packages('balancer-tools', () => ({ socat: 'any' }));

/** A load balancer of kbuild's that leads to API servers now. */
interface Leading {
  readonly host: LinuxHost;
  readonly servers: ReadonlyMap<string, BalancedServer> | 'uncontrolled' | 'silent';
}

/** The load balancers that were observed and whose haproxy runs. A host that is gone leads no client anywhere. */
const leading = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): readonly Leading[] =>
  balancers(inventory).flatMap((host) => {
    const found = linuxFacts(fleet, host)?.balancer ?? 'none';
    return found === 'none' ? [] : [{ host, servers: found }];
  });

/**
 * Tells haproxy of one host whether it leads new connections to an API server. @throws CommandError; it is not the last
 * one
 */
const tell = async (on: On, host: LinuxHost, name: string, state: 'drain' | 'ready'): Promise<void> => {
  const command = script('balancer/balancer-server.sh', { SOCKET: paths.haproxySocket, NAME: name, STATE: state });
  await on(host).run(command);
};

const names = (all: readonly { readonly host: LinuxHost }[]): string => all.map(({ host }) => host.name).join(', ');

/** One control plane has no other that could serve in its place. */
const mayLeave = ({ inventory, host }: Target): boolean =>
  host.role === 'control-plane' && controlPlanes(inventory).length > 1;

/** True where haproxy gives new connections to this API server while it is up. */
const leadsTo = ({ servers }: Leading, name: string): boolean =>
  typeof servers !== 'string' && servers.get(name)?.turn === 'ready';

/** What is waited for before a load balancer can do without an API server; undefined if it can. @throws Refused */
function obstacle({ host, servers }: Leading, name: string): string | undefined {
  if (servers === 'uncontrolled')
    throw new Refused(
      'balancer-configuration',
      host.name,
      'kbuild cannot take API servers out of its haproxy: it has the configuration of an older kbuild, or socat is missing',
      'run `kbuild up` first, then the same command again',
    );
  if (servers === 'silent') return `haproxy of ${host.name} answers at ${paths.haproxySocket}`;
  if (servers.get(name)?.turn !== 'ready') return undefined;
  const others = [...servers].filter(([other]) => other !== name);
  if (others.some(([, { isUp, turn }]) => isUp && turn === 'ready')) return undefined;
  const found = others.map(([other, { isUp, turn }]) => `${other} ${isUp ? turn : 'down'}`).join(', ');
  return `haproxy of ${host.name} has another API server that is ready (found ${found === '' ? 'none' : found})`;
}

/**
 * Takes a control plane out of every load balancer of kbuild's before its API server restarts: open connections live on
 * until it ends them, new ones go to the others. A load balancer that has no other API server which is ready is waited
 * for. haproxy forgets it with a restart, and then goes by its health check alone.
 */
export const outOfBalancers = (isDue: (target: Target) => boolean): Step => ({
  name: 'out-of-balancers',
  settleMs: MINUTES,
  diff: (target) => {
    const { host } = target;
    if (!mayLeave(target) || !isDue(target)) return [];
    const all = leading(target);
    const waits = all.flatMap((one): readonly Change[] => {
      const found = obstacle(one, host.name);
      return found === undefined ? [] : [{ summary: `wait until ${found}` }];
    });
    if (waits.length > 0) return waits;
    const due = all.filter((one) => leadsTo(one, host.name));
    if (due.length === 0) return [];
    return [
      {
        summary: `take ${host.name} out of the load balancers (${names(due)})`,
        touches: 'host',
        apply: async (on) => {
          for (const one of due) await tell(on, one.host, host.name, 'drain');
        },
      },
    ];
  },
});

/** The load balancers whose haproxy was told to lead no new connection to this API server. */
const without = (target: Target): readonly Leading[] =>
  leading(target).filter(
    ({ servers }) => typeof servers !== 'string' && servers.get(target.host.name)?.turn === 'drained',
  );

/**
 * Puts a control plane back into the load balancers, whichever run took it out. Their health check decides when they
 * use it. `willLeave`: control planes that an earlier step of the same run takes out, so that the plan shows this
 * change.
 */
export const backInBalancers = (willLeave: (target: Target) => boolean): Step => ({
  name: 'back-in-balancers',
  settleMs: MINUTES,
  diff: (target) => {
    if (!mayLeave(target)) return [];
    const due = willLeave(target) ? leading(target) : without(target);
    if (due.length === 0) return [];
    return [
      {
        summary: `put ${target.host.name} back into the load balancers (${names(due)})`,
        touches: 'host',
        apply: async (on) => {
          for (const one of due) await tell(on, one.host, target.host.name, 'ready');
        },
      },
    ];
  },
});

/**
 * Puts back what an upgrade that was cut off has taken out of this load balancer. An operator's `maint` stays.
 */
export const allInTurn: Step = {
  name: 'servers-in-turn',
  settleMs: MINUTES,
  diff: ({ host, facts: { balancer } }) => {
    if (typeof balancer === 'string') return [];
    const out = [...balancer].flatMap(([name, { turn }]) => (turn === 'drained' ? [name] : []));
    if (out.length === 0) return [];
    return [
      {
        summary: `have haproxy lead to ${out.join(', ')} again (found drained)`,
        apply: async (on) => {
          for (const name of out) await tell(on, host, name, 'ready');
        },
      },
    ];
  },
};
