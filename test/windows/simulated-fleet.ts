import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import type { Observed } from '../../src/cluster/fleet/fleet.ts';
import { observeWindows } from '../../src/cluster/fleet/observe-windows.ts';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import { watchedOn } from '../../src/commands/every.phases.ts';
import { converge, type Outcome } from '../../src/engine/converge.ts';
import type { Event } from '../../src/engine/event.ts';
import { observations, type Observations } from '../../src/engine/observations.ts';
import { changeId, plan } from '../../src/engine/plan.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory, WindowsHost } from '../../src/inventory/inventory.ts';
import type { On } from '../../src/ssh/remote.ts';
import { windowsRemote, type WindowsRemote } from '../../src/ssh/windows.ts';
import { clusterOf, cp1, inventoryOf, joinedControlPlane, nodeOf } from '../fakes/cluster.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { recordingOn, type Sent } from '../fakes/on.ts';
import { testCa } from './ca.ts';
import type { JoinWorld } from './host/answers/kubeadm.ts';
import { type SimulatedWindowsHost, startWindowsHost, type WindowsHostOptions } from './host/server.ts';

const { pem: CA_PEM, fingerprint: CA } = testCa();

interface Registration {
  readonly name: string;
  readonly kubeletExtraArgs: readonly { readonly name: string; readonly value: string }[];
}

/** What the join was told: a JoinConfiguration. */
export interface JoinDocument {
  readonly kind: string;
  readonly nodeRegistration: Registration;
  readonly discovery: object;
}

/** A cluster with one control plane that is only said to be there, and one simulated Windows host. */
export interface SimulatedFleet {
  readonly simulated: SimulatedWindowsHost;
  readonly inventory: Inventory;
  readonly host: WindowsHost;
  /** What was asked of the control plane. */
  readonly sent: readonly Sent[];
  /** What kubeadm was given, oldest first. */
  readonly joins: readonly JoinDocument[];
  readonly events: readonly Event[];
  /** Names of nodes that are registered. */
  readonly nodes: Set<string>;
  /** Connects anew, plans and carries it out, as a run of kbuild does; what it planned, and how it ended. */
  readonly run: (
    phases: (inventory: Inventory) => readonly Phase[],
    signal?: AbortSignal,
    /** What the run takes for the inventory. */
    at?: Inventory,
  ) => Promise<{
    readonly planned: readonly string[];
    readonly outcome: Outcome;
  }>;
  readonly observed: () => Promise<Observations>;
  /** Ends every connection of kbuild's, as when it is killed. */
  readonly kill: () => Promise<void>;
  close(): Promise<void>;
}

/** How the fleet is set up. */
export interface SimulatedOptions extends Partial<WindowsHostOptions> {
  readonly windows?: Partial<WindowsHost['windows']>;
  readonly inventory?: Partial<Inventory>;
  /** Called by kubeadm's join before it leaves anything; rejects to fail. */
  readonly joining?: (signal: AbortSignal, count: number) => Promise<void>;
  /** What the cluster is otherwise; `sent`: what was asked of the control plane so far. */
  readonly seen?: (cluster: ClusterUp, sent: readonly Sent[]) => ClusterUp;
}

/** Starts the host; nothing is connected yet. */
export async function simulatedFleet(options: SimulatedOptions = {}): Promise<SimulatedFleet> {
  const {
    windows = {},
    inventory: over = {},
    joining,
    seen: seenAs = (one: ClusterUp): ClusterUp => one,
    world = {},
    ...rest
  } = options;
  const nodes = new Set<string>();
  const joins: JoinDocument[] = [];
  const events: Event[] = [];
  const kubeadm: JoinWorld = async (config, signal) => {
    const document = parse(config) as JoinDocument;
    joins.push(document);
    await joining?.(signal, joins.length);
    const { name, kubeletExtraArgs } = document.nodeRegistration;
    nodes.add(name);
    // kubeadm sorts them.
    const flags = kubeletExtraArgs
      .map((one) => `--${one.name}=${one.value}`)
      .toSorted()
      .join(' ');
    return {
      'C:\\etc\\kubernetes\\pki\\ca.crt': CA_PEM,
      'C:\\etc\\kubernetes\\kubelet.conf':
        'clusters:\n- cluster:\n    server: https://k8s.example:6443\n  name: default-cluster\ncontexts:\n- context:\n    cluster: default-cluster\n',
      'C:\\var\\lib\\kubelet\\config.yaml': 'kind: KubeletConfiguration\n',
      'C:\\var\\lib\\kubelet\\kubeadm-flags.env': `KUBELET_KUBEADM_ARGS="${flags}"\n`,
      'C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem': 'certificate and key',
    };
  };
  const simulated = await startWindowsHost({ name: 'win1', ...rest, world: { kubeadm, ...world } });
  const host: WindowsHost = { ...simulated.host, windows: { ...simulated.host.windows, ...windows } };
  const base = inventoryOf();
  const inventory: Inventory = {
    ...base,
    hosts: [cp1, host],
    network: mixedFlannel({ flannelImage: 'flannel', kubeProxyImage: 'kube-proxy' }),
    ...over,
  };
  const { on: onLinux, sent } = recordingOn({
    run: ({ script }) => (script.includes('token create') ? 'abcdef.0123456789abcdef\n' : ''),
  });
  const cluster = (): ClusterView => {
    for (const one of sent)
      if ('script' in one && one.script.includes('delete node'))
        nodes.delete(/'?([\w-]+)'?\s*$/.exec(one.script.trim())?.[1] ?? '');
    const live = clusterOf({
      caFingerprint: CA,
      nodes: [
        nodeOf({ name: 'cp1', role: 'control-plane', internalAddress: '10.0.0.11' }),
        ...[...nodes].map((name) => nodeOf({ name, taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] })),
      ],
    });
    return seenAs(live, sent);
  };
  const remotes: WindowsRemote[] = [];
  let runs = 0;
  const connected = async (): Promise<WindowsRemote> => {
    const remote = windowsRemote(host, await dialSsh(host, { policy: 'strict' }), {
      runId: `run-${String(++runs)}`,
      pause: (ms, signal) => delay(Math.min(ms, 50), undefined, { signal }).catch(() => undefined),
    });
    remotes.push(remote);
    return remote;
  };
  const subject = { inventory, host, watched: watchedOn(inventory)(host) };
  const look = async (remote: WindowsRemote): Promise<Observations> => {
    const facts = (names?: readonly string[]) =>
      observeWindows((command) => remote.ask(command), subject, { nowMs: Date.now }, names);
    const hosts: readonly Observed[] = [
      { os: 'linux', host: cp1, facts: joinedControlPlane({ caFingerprint: CA }) },
      { os: 'windows', host, facts: await facts() },
    ];
    return observations(
      { hosts, unreachable: [], cluster: cluster() },
      {
        facts: (one, names) => (one.name === host.name ? facts(names) : Promise.resolve({})),
        cluster: () => Promise.resolve(cluster()),
        clusterFacts: [],
        nowMs: Date.now,
      },
    );
  };
  return {
    simulated,
    inventory,
    host,
    sent,
    joins,
    events,
    nodes,
    observed: async () => look(await connected()),
    run: async (phasesOf, signal = new AbortController().signal, at = inventory) => {
      const remote = await connected();
      try {
        const seen = await look(remote);
        const phases = phasesOf(at);
        const { changes, errors } = plan(phases, at, seen.fleet());
        if (errors.length > 0) throw errors[0]!.error;
        let sleptMs = 0;
        const on: On = (one) => (one.os === 'windows' ? remote : onLinux(one)) as never;
        const outcome = await converge({
          inventory: at,
          phases,
          observations: seen,
          on,
          held: () => Promise.resolve(0),
          planned: new Set(changes.map(changeId)),
          approve: () => Promise.resolve(true),
          emit: (event) => events.push(event),
          concurrency: 5,
          signal,
          // What a run sleeps passes at once, so that its deadlines come soon.
          nowMs: () => Date.now() + sleptMs,
          sleep: (ms) => {
            sleptMs += ms;
            return delay(Math.min(ms, 50));
          },
        });
        return { planned: changes.map(({ summary }) => summary), outcome };
      } finally {
        await remote.close();
      }
    },
    kill: async () => {
      await Promise.all(remotes.map((remote) => remote.close()));
    },
    close: async () => {
      await Promise.all(remotes.map((remote) => remote.close()));
      await simulated.close();
    },
  };
}
