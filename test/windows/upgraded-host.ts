/** A Windows worker of a cluster whose API servers may run another version, on a simulated machine. */
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterUp, NodeView } from '../../src/cluster/fleet/view.ts';
import { up } from '../../src/commands/up.phases.ts';
import { upgrade } from '../../src/commands/upgrade.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory, WindowsHost } from '../../src/inventory/inventory.ts';
import type { On } from '../../src/ssh/remote.ts';
import { atVersion } from '../../src/upgrade/at-version.value.ts';
import { clusterOf, cp1, inventoryOf, joinedControlPlane, nodeOf, podOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';
import { factsOfMachine, remoteOf } from '../fakes/windows.ts';
import { testCa } from './ca.ts';
import { filesOf, freshMachine, type Machine } from './host/machine.ts';

export const OLD = '1.34.4';
export const NEW = '1.37.1';

const CA = testCa();
const SETTINGS = { kubeletFlags: [], kubeletConfig: {}, kubeletOverrides: [], cgroupVersion: 2, storage: [] } as const;
const DRAINED = { 'kbuild.dev/drained': 'true', 'kbuild.dev/cordoned': 'true' };
const MISSED = { 'kbuild.dev/workloads': 'none' };

/** The cluster and one Windows worker of it. */
export interface UpgradedHost {
  readonly inventory: Inventory;
  readonly host: WindowsHost;
  readonly machine: Machine;
  /** The version of the API server. */
  api: string;
  /** The image in the pods of kube-proxy on Windows hosts. */
  kubeProxyImage: string;
  node: Partial<NodeView>;
  /** What scripts ran on the Windows host with which parameters, oldest first. */
  readonly ran: { readonly name: string; readonly params: Readonly<Record<string, unknown>> }[];
  /** What kubeadm was given by `upgrade`. */
  readonly upgrades: string[];
}

/** The version that an installed program says. */
export const installed = ({ machine }: UpgradedHost, name: string): string =>
  /(\d+\.\d+\.\d+)/.exec(filesOf(machine).text(`C:\\k\\${name}.exe`) ?? '')?.[1] ?? 'none';

function clusterNow(it: UpgradedHost): ClusterUp {
  const kubelet = it.machine.services.get('kubelet')?.state === 'Running' ? installed(it, 'kubelet') : undefined;
  if (kubelet !== undefined) it.node = { ...it.node, kubeletVersion: `v${kubelet}` };
  const isJoined = filesOf(it.machine).exists('C:\\etc\\kubernetes\\kubelet.conf');
  const taints = [{ key: 'os', value: 'windows', effect: 'NoSchedule' as const }];
  return clusterOf({
    version: it.api,
    caFingerprint: CA.fingerprint,
    nodes: [
      nodeOf({ name: 'cp1', role: 'control-plane', kubeletVersion: `v${it.api}` }),
      ...(isJoined ? [nodeOf({ name: 'win1', ...it.node, taints, ready: kubelet !== undefined })] : []),
    ],
    pods: [
      ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) =>
        podOf({
          name: `${name}-cp1`,
          labels: { component: name, tier: 'control-plane' },
          images: [`registry.k8s.io/${name}:v${it.api}`],
        }),
      ),
      podOf({
        name: 'kube-proxy-windows-x',
        node: 'win1',
        labels: { 'k8s-app': 'kube-proxy-windows' },
        images: [it.kubeProxyImage],
      }),
    ],
  });
}

/** The fleet as it is now. */
export const fleetNow = (it: UpgradedHost): Fleet => ({
  hosts: [
    { os: 'linux', host: cp1, facts: joinedControlPlane({ caFingerprint: CA.fingerprint, ...SETTINGS }) },
    { os: 'windows', host: it.host, facts: factsOfMachine(it.inventory, it.host, it.machine) },
  ],
  unreachable: [],
  cluster: clusterNow(it),
});

const notedAs = (it: UpgradedHost, script: string): void => {
  if (script.includes('SECONDS_TO_DRAIN=') && script.includes('win1'))
    it.node = { ...it.node, unschedulable: true, annotations: { ...DRAINED, ...MISSED } };
  if (script.includes('patch node win1') || script.includes("patch node 'win1'"))
    it.node = { ...it.node, unschedulable: false, annotations: MISSED };
  if (script.includes("FORGETS='yes'") || script.includes('FORGETS=yes')) it.node = { ...it.node, annotations: {} };
  if (script.includes('kube-proxy-windows')) it.kubeProxyImage = it.inventory.network.windows!.kubeProxyImage;
};

/** The changes that these phases plan, in order. */
export function due(it: UpgradedHost, phases: readonly Phase[], inventory = it.inventory) {
  const fleet = fleetNow(it);
  return phases.flatMap((phase) =>
    phase.hosts.slice(0, 1).flatMap((host) =>
      phase.steps.flatMap((step) => {
        const facts =
          phase.kind === 'cluster' ? fleet.cluster : fleet.hosts.find((one) => one.host.name === host.name)!.facts;
        const diff = step.diff as (target: object) => ReturnType<typeof step.diff>;
        return diff({ inventory, host, facts, fleet }).map((change) => ({
          phase: phase.name,
          step: step.name,
          change,
        }));
      }),
    ),
  );
}

/** Carries phases out; after each step, what it wanted to change must hold. Returns the summaries of the changes. */
export async function carryOut(
  it: UpgradedHost,
  phases: readonly Phase[],
  inventory = it.inventory,
  until = Infinity,
): Promise<readonly string[]> {
  const done: string[] = [];
  const { remote, scripts } = remoteOf(it.host, it.machine, {
    upgrades: it.upgrades,
    kubeadm: () =>
      Promise.resolve({
        'C:\\etc\\kubernetes\\pki\\ca.crt': CA.pem,
        'C:\\etc\\kubernetes\\kubelet.conf': 'contexts:\n- context:\n    cluster: default-cluster\n',
        'C:\\var\\lib\\kubelet\\config.yaml': 'kind: KubeletConfiguration\n',
        'C:\\var\\lib\\kubelet\\kubeadm-flags.env':
          'KUBELET_KUBEADM_ARGS="--hostname-override=win1 --pod-infra-container-image=registry.k8s.io/pause:3.10.1"\n',
      }),
  });
  const { on: onLinux } = recordingOn({
    run: ({ script }) => {
      notedAs(it, script);
      return script.includes('token create') ? 'abcdef.0123456789abcdef\n' : '';
    },
    job: (_, { script }) => {
      notedAs(it, script);
      return '';
    },
  });
  const on: On = (one) => (one.os === 'windows' ? remote : onLinux(one)) as never;
  for (const phase of phases) {
    for (const step of phase.steps) {
      const one = [{ ...phase, steps: [step] } as Phase];
      for (const { change } of due(it, one, inventory)) {
        done.push(change.summary);
        if (done.length > until) return done;
        await change.apply?.(on);
      }
    }
  }
  it.ran.push(...scripts.map(({ name, params }) => ({ name, params })));
  return done;
}

/** The phases of an upgrade to the version of the inventory that touch Windows hosts. */
export const windowsUpgrade = (it: UpgradedHost): readonly Phase[] =>
  upgrade(it.inventory, fleetNow(it), {
    hops: [{ from: OLD, version: NEW }],
    keep: () => Promise.resolve(),
    drain: { timeoutMs: 1000 },
    losesPods: false,
    atOnce: 1,
  }).filter(({ name, kind }) => kind === 'windows' || name === 'windows-kube-proxy');

/** The phases of `up` on Windows hosts, for the version that the API server runs. */
export const windowsUp = (it: UpgradedHost): readonly Phase[] =>
  up(atVersion(it.inventory, it.api)).filter(({ kind }) => kind === 'windows');

/** The same host once more, in a machine of its own. */
export const copied = (it: UpgradedHost): UpgradedHost => ({
  ...it,
  machine: {
    ...it.machine,
    files: new Map(it.machine.files),
    folders: new Set(it.machine.folders),
    services: new Map([...it.machine.services].map(([name, service]) => [name, { ...service }])),
  },
  ran: [],
  upgrades: [],
});

/** A worker that has joined a cluster of the old version, whose API server then got the new one. */
export async function joinedBefore(): Promise<UpgradedHost> {
  const usual = windowsHost('win1').windows;
  const downloads = {
    ...usual.downloads,
    kubernetes: 'https://dl.k8s.io/v{version}/bin/windows/amd64',
    network: 'https://files.example',
  };
  const host = windowsHost('win1', { windows: { ...usual, downloads } });
  const inventory: Inventory = {
    ...inventoryOf(),
    hosts: [cp1, host],
    kubernetes: { ...inventoryOf().kubernetes, version: NEW, minor: '1.37' },
    network: mixedFlannel({ kubeProxyImage: `kube-proxy:v${NEW}-flannel-hostprocess` }),
  };
  const it: UpgradedHost = {
    inventory,
    host,
    machine: freshMachine('win1', '20348', host.internalAddress),
    api: OLD,
    kubeProxyImage: `kube-proxy:v${OLD}-flannel-hostprocess`,
    node: {},
    ran: [],
    upgrades: [],
  };
  await carryOut(it, windowsUp(it), atVersion(inventory, OLD));
  it.ran.splice(0);
  it.api = NEW;
  return it;
}
