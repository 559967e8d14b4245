/** The faults of the soak: what is done to kbuild, to its connections and to its hosts, and taken back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { freeze, thaw } from './freeze.ts';
import type { Running } from './kbuild.ts';
import * as lab from './lab.ts';

/** What a fault is done to. */
export interface Victims {
  readonly kbuild: Running;
  readonly host: string;
}

/** Makes the fault, keeps it up for so many ms, takes it back. kbuild lives on, except after `kill`. */
type Fault = (victims: Victims, ms: number) => Promise<void>;

/** Ends every process that serves an SSH session on the host: the connections are cut by their far end. */
export const cutConnections = (host: string): Promise<unknown> =>
  lab.inside(host, `for pid in $(pgrep -f '^sshd: .*@' || :); do kill -KILL "$pid" 2>/dev/null || :; done`);

/** By name. Seconds a fault lasts at most: longer than the 45 s after which a silent connection counts as lost. */
export const FAULTS: Readonly<Record<string, { readonly atMostS: number; readonly make: Fault }>> = {
  kill: {
    atMostS: 0,
    make: async ({ kbuild }) => {
      kbuild.kill('SIGKILL');
      await kbuild.ended;
    },
  },
  cut: {
    atMostS: 0,
    make: async ({ host }) => {
      await cutConnections(host);
    },
  },
  partition: {
    atMostS: 70,
    make: async ({ host }, ms) => {
      await lab.partition([host]);
      await sleep(ms);
      await lab.heal([host]);
    },
  },
  freeze: {
    atMostS: 70,
    make: async ({ host }, ms) => {
      await freeze(host);
      await sleep(ms);
      await thaw(host);
    },
  },
  asleep: {
    atMostS: 70,
    make: async ({ kbuild }, ms) => {
      kbuild.kill('SIGSTOP');
      await sleep(ms);
      kbuild.kill('SIGCONT');
    },
  },
  reboot: { atMostS: 0, make: ({ host }) => lab.reboot([host]) },
  power: {
    atMostS: 10,
    make: async ({ host }, ms) => {
      await lab.kill([host]);
      await sleep(ms);
      await lab.start([host]);
    },
  },
};
