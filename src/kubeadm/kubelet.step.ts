import { isMixed } from '../cluster/api-versions.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { together, waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { textDiff } from '../engine/text-diff.ts';
import { holds, merged } from '../inventory/merge.ts';
import { paths } from '../paths.ts';
import { driverChange, otherDriver, podsAnew, podsAnewSummary } from '../runtime/cgroup-driver.step.ts';
import { runtimeMove } from '../runtime/runtime-change.ts';
import type { JsonObject } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';
import { compareVersions, minorOf, versionIn } from '../versions.ts';
import { kubeletArguments } from './config.ts';
import { kubeadmPatches } from './control-plane-files.step.ts';
import { flagOf, type Idle, idleKubeletSettings } from './in-effect.ts';
import {
  hostPatches,
  KUBEADMS_OWN_FLAGS,
  ownKubeletConfig,
  patchedKubeletConfig,
  sharedKubeletConfig,
} from './kubelet-config.ts';
import { fileDiff } from './settings-preview.step.ts';
import { editedParts } from './settings.ts';

/** Files that kubeadm writes on a host that joins. */
const KUBELET_CONFIG_FILE = '/var/lib/kubelet/config.yaml';
const FLAGS = '/var/lib/kubelet/kubeadm-flags.env';

/** Settings that kubeadm itself writes per host (its instance-config.yaml, systemd-resolved). */
const INSTANCE_KEYS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'containerRuntimeEndpoint', 'resolvConf']);

/** The names of settings that only one side has, or whose values differ. */
function differing(expected: JsonObject, live: JsonObject): readonly string[] {
  const keys = new Set([...Object.keys(expected), ...Object.keys(live)]);
  return [...keys].filter(
    (key) => !INSTANCE_KEYS.has(key) && !(holds(expected[key], live[key]) && holds(live[key], expected[key])),
  );
}

/**
 * The runtime that still runs the host's pods while a change of runtime is pending: the kubelet needs the settings for
 * that one. undefined if no change is pending.
 */
const served = ({ inventory, host, facts }: Target) => runtimeMove(inventory, host, facts)?.from;

function configDifference(target: Target, cluster: ClusterUp): readonly string[] {
  const { inventory, host, facts } = target;
  const live = facts.kubeletConfig;
  if (live === 'absent') return [];
  const expected = patchedKubeletConfig(cluster.kubeletConfiguration, hostPatches(inventory, host, served(target)));
  if (expected !== undefined) return differing(expected, live);
  // Only kubeadm can apply some patches. Then kbuild compares only the host's own settings.
  const own = ownKubeletConfig(inventory, host, served(target));
  return Object.keys(own).filter((key) => !holds(own[key], live[key]));
}

/**
 * True for a kubelet that is older than the cluster: the cluster stores the configuration for the newer kubelet, which
 * the host gets with its upgrade.
 */
function isOlderThanCluster({ host }: Target, cluster: ClusterUp): boolean {
  const node = cluster.nodes.find(({ name }) => name === host.name);
  const version = versionIn(node?.kubeletVersion);
  return version !== undefined && compareVersions(minorOf(version), minorOf(cluster.version)) < 0;
}

/** The desired arguments: those of kubeadm unchanged, then those of the inventory. */
function wantedFlags({ host }: Target, live: readonly string[]): readonly string[] {
  const wanted = kubeletArguments(host).map(({ name, value }) => `--${name}=${value}`);
  const nameOf = (flag: string): string => flag.slice(0, flag.indexOf('=') + 1) || flag;
  const kept = live.filter(
    (flag) => KUBEADMS_OWN_FLAGS.test(flag) && !wanted.some((argument) => argument.startsWith(nameOf(flag))),
  );
  return [...kept, ...wanted];
}

const sorted = (flags: readonly string[]): string => [...flags].sort().join(' ');

/**
 * The configuration after the change: what the cluster stores, then the inventory's settings, then the host's patches.
 */
function wantedConfig(target: Target, cluster: ClusterUp): JsonObject | undefined {
  const { inventory, host } = target;
  const shared = sharedKubeletConfig(inventory);
  const noted = (cluster.settings?.['kubelet'] ?? {}) as JsonObject;
  const stored = Object.entries(cluster.kubeletConfiguration).filter(([key]) => !(key in noted) || key in shared);
  return patchedKubeletConfig(merged(Object.fromEntries(stored), shared), hostPatches(inventory, host, served(target)));
}

/** The differences, as `plan --diff` shows them. */
function diffOf(target: Target, cluster: ClusterUp, live: readonly string[], flags: readonly string[]): string {
  const config = target.facts.kubeletConfig;
  const before = config === 'absent' ? {} : config;
  const after = wantedConfig(target, cluster);
  const argumentsDiff = sorted(flags) === sorted(live) ? '' : textDiff(live.join('\n'), flags.join('\n'));
  return [
    ...(after === undefined
      ? [`${KUBELET_CONFIG_FILE}\n(what its patches make of it is known to kubeadm alone)`]
      : fileDiff(KUBELET_CONFIG_FILE, before, after, new Set(differing(after, before)))),
    ...(argumentsDiff === '' ? [] : [`${FLAGS}\n${argumentsDiff}`]),
  ].join('\n');
}

/**
 * The kubelet's old and new settings and arguments, and the command that writes them. The kubelet reads them only at
 * its start.
 */
function kubeletConfigured(target: Target, cluster: ClusterUp) {
  const live = target.facts.kubeletFlags === 'absent' ? [] : target.facts.kubeletFlags;
  const flags = wantedFlags(target, live);
  return {
    flags,
    preview: () => Promise.resolve(diffOf(target, cluster, live, flags)),
    command: script('kubeadm/kubelet-config.sh', { PATCHES: paths.kubeadmPatches, FLAGS: flags.join(' ') }),
  };
}

/** How a setting that does not take effect is told. */
const idleText = ({ key, live }: Idle): string =>
  `${key} without effect: the kubelet runs with ${live === undefined ? 'no such setting' : JSON.stringify(live)}`;

/** Where a flag on the host wins over a setting, which no restart changes; undefined: nothing of the kind is seen. */
const winnerOver = ({ key }: Idle, { kubeletOverrides }: LinuxFacts): string | undefined =>
  kubeletOverrides.find(({ flags }) => flags.includes(flagOf(key)))?.file;

/**
 * Configures the kubelet of a joined host again when the cluster's settings, the host's own or its arguments were
 * edited, or when the running kubelet does not have them. If the kubelet also changes its cgroup driver, it gets these
 * settings with that change, after its node is drained.
 */
export const kubeletSettings: Step = {
  name: 'kubelet-settings',
  settleMs: 60_000,
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { cluster } = fleet;
    if (standing(target) !== 'joined' || facts.kubeletFlags === 'absent' || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    // During an upgrade the cluster stores the configuration for newer kubelets.
    if (isMixed(cluster) || otherDriver(target) !== undefined) return [];
    const edited = editedParts(inventory, cluster);
    const live = facts.kubeletFlags;
    const { flags, preview, command } = kubeletConfigured(target, cluster);
    const isOlder = isOlderThanCluster(target, cluster);
    const edits = [
      ...(edited !== 'unknown' && edited.includes('kubelet') ? ['settings that were edited'] : []),
      ...(isOlder ? [] : configDifference(target, cluster).map((key) => `another ${key}`)),
      ...(sorted(flags) === sorted(live) ? [] : ['other arguments']),
    ];
    // What is edited does not take effect yet.
    const idle = edits.length > 0 || isOlder ? [] : idleKubeletSettings(inventory, host, cluster, served(target));
    const found = [...edits, ...idle.flatMap((one) => (winnerOver(one, facts) === undefined ? [idleText(one)] : []))];
    if (found.length === 0) return [];
    return [
      {
        summary: `configure and restart the kubelet of ${host.name} (found ${found.slice(0, 4).join(', ')})`,
        disrupts: true,
        restarts: [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }],
        preview,
        apply: async (on) => {
          await on(host).job('kubelet-settings', {
            ...using(command, sh`systemctl restart kubelet`),
            title: 'configure the kubelet',
          });
        },
      },
    ];
  },
};

/**
 * Names the settings over which a flag on the host wins. kbuild restarts nothing for them and does not wait: only the
 * operator can remove the flag.
 */
export const kubeletObeys: Step = {
  name: 'kubelet-obeys',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { cluster } = fleet;
    if (standing(target) !== 'joined' || cluster.state !== 'up' || isMixed(cluster)) return [];
    const overridden = idleKubeletSettings(inventory, host, cluster, served(target)).flatMap((one) => {
      const file = winnerOver(one, facts);
      return file === undefined ? [] : [`${idleText(one)}, because ${file} has ${flagOf(one.key)}: remove it there`];
    });
    if (overridden.length === 0) return [];
    return [{ summary: `wait until the kubelet of ${host.name} obeys the inventory (found ${overridden.join(', ')})` }];
  },
};

/**
 * Gives the kubelet of a host the settings that the runtime of its pods needs, and removes those for another runtime.
 */
export const kubeletByRuntime: Step = {
  ...together('kubelet-by-runtime', kubeadmPatches, kubeletSettings),
  // A single control plane does not answer while its own pods start on the other runtime.
  settleMs: 5 * 60_000,
};

/**
 * Configures the kubelet of a joined node for the inventory's cgroup driver, and restarts all pods of the node, because
 * no container may stay in a cgroup of the other driver. Runs after the runtime has the inventory's driver.
 */
export const podsByDriver: Step = {
  name: 'pods-by-driver',
  settleMs: 60_000,
  diff: (target) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    const change = host.role === 'etcd' ? undefined : driverChange(target);
    if (change === undefined || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const { preview, command } = kubeletConfigured(target, cluster);
    return [
      {
        summary: podsAnewSummary(target, change),
        disrupts: true,
        restarts: [{ what: 'all pods of the host', hosts: [host.name], aboutMs: ABOUT_MS.staticPod, atOnce: 1 }],
        preview,
        apply: async (on) => {
          await on(host).job('pods-anew', using(command, podsAnew(target, KUBELET_CONFIG_FILE)));
        },
      },
    ];
  },
};
