import { OWN_HEADER, paths } from '../paths.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/** An API server as haproxy of a load balancer knows it. */
export interface BalancedServer {
  /** Its health check passes. */
  readonly isUp: boolean;
  /**
   * `ready`: it gets new connections while it is up. `drained`: none, as kbuild told haproxy. `other`: none, for
   * another reason, such as an operator's `maint`.
   */
  readonly turn: 'ready' | 'drained' | 'other';
}

/**
 * The API servers to which kbuild's haproxy on a host sends connections, by name. `none`: no such haproxy runs.
 * `uncontrolled`: it has no control socket yet, or the host has no program to use it. `silent`: it does not answer.
 */
export type BalancerState = 'none' | 'uncontrolled' | 'silent' | ReadonlyMap<string, BalancedServer>;

/** SRV_ST_RUNNING of haproxy's server-t.h. */
const RUNNING = 2;

/**
 * SRV_ADMF_FDRAIN of haproxy's server-t.h: forced by its control socket. Others are maintenance or come from the
 * configuration.
 */
const FORCED_DRAIN = 0x08;

/** @throws Error on a line that does not describe a server */
function parse(out: string): BalancerState {
  const all = lines(out).map((line) => line.trim());
  const [word] = all;
  if (word === 'none' || word === 'uncontrolled' || word === 'silent') return word;
  return new Map(
    all.map((line) => {
      const [, name, operational, administrative] = /^(\S+) (\d+) (\d+)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`haproxy's state of a server cannot be read: ${line}`);
      const flags = Number(administrative);
      return [
        name,
        {
          isUp: Number(operational) === RUNNING,
          turn: flags === 0 ? 'ready' : flags === FORCED_DRAIN ? 'drained' : 'other',
        },
      ];
    }),
  );
}

/** The state of kbuild's haproxy on the host. */
export const balancer = probeInPlace(
  script('balancer/probe-balancer.sh', {
    HEADER: OWN_HEADER,
    CONFIG: paths.haproxyConfig,
    SOCKET: paths.haproxySocket,
  }),
  parse,
);
