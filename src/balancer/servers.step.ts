import { linuxFacts } from '../cluster/fleet/fleet.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { packages } from '../host/packages/packages.step.ts';
import { balancers, controlPlanes } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import type { BalancedServer } from './balancer.facts.ts';

const MINUTES = 60_000;

/**
 * The program with which root talks to haproxy's control socket. It is a separate step, so that haproxy's package stays
 * as it is.
 */
export const balancerTools = packages('balancer-tools', () => ({ socat: 'any' }));

/** A load balancer of kbuild whose haproxy runs, with the API servers behind it. */
interface Leading {
  readonly host: LinuxHost;
  readonly servers: ReadonlyMap<string, BalancedServer> | 'uncontrolled' | 'silent';
}

/**
 * The load balancers that were observed and whose haproxy runs. A host that is gone sends no client to an API server.
 */
const leading = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): readonly Leading[] =>
  balancers(inventory).flatMap((host) => {
    const found = linuxFacts(fleet, host)?.balancer ?? 'none';
    return found === 'none' ? [] : [{ host, servers: found }];
  });

/**
 * Tells haproxy of one host whether to send new connections to an API server. @throws CommandError if no other API
 * server is ready
 */
const tell = async (on: On, host: LinuxHost, name: string, state: 'drain' | 'ready'): Promise<void> => {
  const command = script('balancer/balancer-server.sh', { SOCKET: paths.haproxySocket, NAME: name, STATE: state });
  await on(host).run(command);
};

const names = (all: readonly { readonly host: LinuxHost }[]): string => all.map(({ host }) => host.name).join(', ');

/** True for a control plane if another one can serve in its place. */
const mayLeave = ({ inventory, host }: Target): boolean =>
  host.role === 'control-plane' && controlPlanes(inventory).length > 1;

/** True if haproxy sends new connections to this API server while it is up. */
const leadsTo = ({ servers }: Leading, name: string): boolean =>
  typeof servers !== 'string' && servers.get(name)?.turn === 'ready';

/**
 * The condition for which kbuild waits before it takes an API server out of a load balancer; undefined if it need not
 * wait. @throws Refused if kbuild cannot control haproxy
 */
function obstacle({ host, servers }: Leading, name: string): string | undefined {
  if (servers === 'uncontrolled')
    throw new Refused(
      'balancer-configuration',
      host.name,
      'kbuild cannot take API servers out of its haproxy: it has the configuration of an older kbuild, or socat ' +
        'is missing',
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
 * Takes a control plane out of every load balancer of kbuild's before its API server restarts: the API server itself
 * ends open connections, new connections reach the other API servers. Waits while a load balancer has no other API
 * server that is ready. A restarted haproxy forgets this state and only uses its health check.
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
          await Promise.all(due.map((one) => tell(on, one.host, host.name, 'drain')));
        },
      },
    ];
  },
});

/** The load balancers whose haproxy sends no new connections to this API server, because kbuild said so. */
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
          await Promise.all(due.map((one) => tell(on, one.host, target.host.name, 'ready')));
        },
      },
    ];
  },
});

/**
 * Puts back the API servers that an interrupted upgrade has taken out of this load balancer. An operator's `maint`
 * stays.
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
        summary: `let haproxy send connections to ${out.join(', ')} again (found drained)`,
        apply: async (on) => {
          for (const name of out) await tell(on, host, name, 'ready');
        },
      },
    ];
  },
};
