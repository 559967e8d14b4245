import { ailments } from '../cluster/ailments.ts';
import { isMemberOf } from '../cluster/members.ts';
import { passRestartGate } from '../cluster/restart-gate.ts';
import { runs } from '../engine/combinators.ts';
import { type Note, noteForgotten, noteWritten } from '../engine/note.ts';
import { awayFrom, drainedAsTold, type NodeChange, othersAreBack, type RollOptions } from '../engine/rolling.ts';
import type { Step, Target } from '../engine/step.ts';
import { balancers } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { sha256Of } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { fileState } from './file.step.ts';

const MINUTES = 60_000;

/** About how long a host is away while it restarts, in ms. */
const AWAY_MS = 60_000;

/** The hosts of a run of `kbuild reboot`. */
export interface Reboots {
  /** In the order of the inventory: those that are restarted, and those that a run which was cut off has restarted. */
  readonly hosts: readonly LinuxHost[];
  /** The boot id from before, by name, of the hosts that this run restarts. */
  readonly from: ReadonlyMap<string, string>;
}

/** The progress of a host's restart: `none` without a note, `noted` before it, `rebooted` when a new boot id runs. */
export function rebootNote(target: Pick<Target, 'facts'>): 'none' | 'noted' | 'rebooted' {
  const state = fileState(target, paths.reboot);
  if (state.kind !== 'file') return 'none';
  return state.sha256 === sha256Of(`${target.facts.bootId}\n`) ? 'noted' : 'rebooted';
}

/** True until the host runs with a new boot id. */
export const isDue = ({ host, facts }: Pick<Target, 'host' | 'facts'>, { from }: Reboots): boolean =>
  from.get(host.name) === facts.bootId;

const watches = { files: [paths.reboot] };

/** The boot id from before, on the host, so that no later run restarts it twice. */
const bootIdNote: Note<Target> = {
  read: (target) => rebootNote(target) !== 'none',
  write:
    ({ host }, text) =>
    (on) =>
      on(host).write(paths.reboot, text),
  forget: ({ host }) => runs(host, sh`rm -f -- ${paths.reboot}`),
};

/** The fields that both steps of the note have. */
const noting = { watches, needs: 'whole-control-plane-unless-worker' } as const;

/** Notes the boot id from before on the host. */
export const rebootNoted = (reboots: Reboots): Step => ({
  ...noteWritten<'linux'>('reboot-noted', bootIdNote, (target) =>
    isDue(target, reboots)
      ? { summary: `note on ${target.host.name} that it is to restart`, text: `${target.facts.bootId}\n` }
      : undefined,
  ),
  ...noting,
});

/** Removes the note, when every host of the run is through. A restart that did not happen leaves none, either. */
export const rebootForgotten = (reboots: Reboots): Step => ({
  ...noteForgotten<'linux'>('reboot-forgotten', bootIdNote, {
    summary: ({ host }) => `remove the note of the restart from ${host.name}`,
    willStand: (target) => isDue(target, reboots),
  }),
  ...noting,
});

/** Why a host restarts, in words. */
const reason = ({ facts: { pendingReboot } }: Target): string => {
  if (pendingReboot === 'none') return 'asked for';
  return pendingReboot.length === 0 ? 'wants a reboot' : `wants a reboot: ${pendingReboot.join(', ')}`;
};

/** True for a host whose restart takes an API server, or a member of an etcd that kbuild built, away for a while. */
const takesAway = ({ host, fleet: { cluster } }: Target): boolean => {
  const own = cluster.state === 'up' ? cluster.members : [];
  const built = cluster.etcd?.state === 'up' ? cluster.etcd.members : [];
  const serves =
    cluster.state === 'up' &&
    host.role === 'control-plane' &&
    cluster.nodes.some(({ name, role }) => name === host.name && role === 'control-plane');
  return serves || [...own, ...built].some(isMemberOf(host));
};

/**
 * Restarts the host, and returns when a new boot id answers. Before a control plane or a member of etcd restarts, the
 * gate (`passRestartGate`) must let it. The change fails with ConnectError if no new boot id answers in time, and as
 * the gate fails.
 */
const rebooted = (reboots: Reboots, { atOnce }: Pick<RollOptions, 'atOnce'>): Step => ({
  name: 'rebooted',
  watches,
  settleMs: MINUTES,
  diff: (target) => {
    const { host } = target;
    if (!isDue(target, reboots)) return [];
    return [
      {
        summary: `reboot ${host.name} (${reason(target)})`,
        disrupts: true,
        restarts: [{ what: 'host', hosts: [host.name], aboutMs: AWAY_MS, atOnce: host.role === 'worker' ? atOnce : 1 }],
        apply: async (on) => {
          if (takesAway(target)) await passRestartGate(target, on);
          await on(host).restart();
        },
      },
    ];
  },
});

/** Waits until HAProxy, and keepalived of a load balancer with a virtual address, run again. */
export const balancerBack: Step = {
  name: 'balancer-back',
  watches: { units: ['haproxy', 'keepalived'] },
  settleMs: MINUTES,
  diff: ({ inventory, host, facts }) => {
    if (!balancers(inventory).some(({ name }) => name === host.name)) return [];
    const units = inventory.loadBalancer.kind === 'local' ? ['haproxy'] : ['haproxy', 'keepalived'];
    const off = units.filter((unit) => facts.services.get(unit)?.active !== 'active');
    return off.length === 0 ? [] : [{ summary: `wait until ${off.join(' and ')} of ${host.name} runs` }];
  },
};

/** Hosts of the run that have restarted, and are not well since. */
const notWell = (reboots: Reboots, { inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): readonly string[] =>
  reboots.hosts.flatMap((host) => {
    const seen = fleet.hosts.find((one) => one.host.name === host.name);
    if (seen?.os !== 'linux' || rebootNote({ facts: seen.facts }) !== 'rebooted') return [];
    return ailments({ inventory, host, fleet }).map((ailment) => `${host.name}: ${ailment}`);
  });

/** Waits until every host that has restarted before is well, takes pods again, and has its workloads back. */
const othersRebooted = (reboots: Reboots, batch: readonly LinuxHost[]): Step => ({
  watches,
  ...othersAreBack<Target>(
    (cluster, target) => {
      const away = awayFrom(cluster, batch).all.map(({ name }) => name);
      if (away.length > 0) return `wait until ${away.join(', ')} takes pods again, with its workloads`;
      const others = reboots.hosts.filter(({ name }) => !batch.some((one) => one.name === name));
      const unwell = notWell({ ...reboots, hosts: others }, target);
      return unwell.length === 0 ? undefined : `wait until the others are well (${unwell.join('; ')})`;
    },
    (target) => isDue(target, reboots),
  ),
});

/**
 * The change that restarts a node. `before`: the first steps on each host; `gates`: conditions that must hold before
 * pods come again.
 */
export const rebootRoll = (
  reboots: Reboots,
  options: RollOptions,
  { before, gates }: Pick<NodeChange<'linux'>, 'before' | 'gates'>,
): NodeChange<'linux'> => ({
  isDue: (target) => isDue(target, reboots),
  othersBack: (hosts) => othersRebooted(reboots, hosts),
  before,
  drain: drainedAsTold(options),
  whileDrained: [rebooted(reboots, options)],
  gates,
});
