import type { DiskSync, OverlayTrial } from '../../host/disk.survey.ts';
import type { NotThere } from '../../host/packages/downloads.survey.ts';
import type { PortMatrix } from '../../host/ports.survey.ts';
import type { Surveyed } from '../../host/surveyor.survey.ts';
import type { Host, LinuxHost, WindowsHost } from '../../inventory/inventory.ts';
import type { PodNetwork } from '../../network/pod-network.survey.ts';
import { onceForEach } from '../../shell/memo.ts';
import type { LinuxFacts } from './linux.ts';
import type { ClusterView } from './view.ts';
import type { WindowsFacts } from './windows.ts';

/** The results of all surveys: measurements between hosts, or over time. */
export interface Surveys {
  readonly ports: PortMatrix;
  readonly disks: readonly Surveyed<DiskSync>[];
  readonly overlays: readonly Surveyed<OverlayTrial>[];
  readonly downloads: readonly Surveyed<readonly NotThere[]>[];
  /** Missing if the operator did not select the survey of pods, or no cluster exists. */
  readonly pods?: { readonly found: PodNetwork } | { readonly failed: string } | undefined;
}

/** What a step can be about: a Linux host, a Windows host, or the cluster (once, on the acting control plane). */
export interface Kinds {
  readonly linux: { readonly host: LinuxHost; readonly facts: LinuxFacts };
  readonly windows: { readonly host: WindowsHost; readonly facts: WindowsFacts };
  readonly cluster: { readonly host: LinuxHost; readonly facts: ClusterView };
}

export type Kind = keyof Kinds;

/** A host with what was seen on it. */
export type Observed = { [O in 'linux' | 'windows']: { readonly os: O } & Kinds[O] }['linux' | 'windows'];

/** All hosts' facts, who could not be reached, and the cluster as its API and etcd show it. */
export interface Fleet {
  readonly hosts: readonly Observed[];
  /** `isDead`: the operator declared the host dead (`--dead`). */
  readonly unreachable: readonly { readonly host: Host; readonly error: Error; readonly isDead?: boolean }[];
  readonly cluster: ClusterView;
  /** Missing when none were made. */
  readonly surveys?: Surveys;
}

const byName = onceForEach(
  (hosts: Fleet['hosts']) => new Map<string, Observed>(hosts.map((observed) => [observed.host.name, observed])),
);

/** A host with what was seen on it; undefined when it could not be reached. */
export const observedHost = ({ hosts }: Fleet, name: string): Observed | undefined => byName(hosts).get(name);

/** The facts of a Linux host of the fleet; undefined when it could not be reached. */
export function linuxFacts(fleet: Fleet, host: LinuxHost): LinuxFacts | undefined {
  const observed = observedHost(fleet, host.name);
  return observed?.os === 'linux' ? observed.facts : undefined;
}

/** The Windows hosts that were observed. */
export const observedWindows = (fleet: Fleet): readonly Kinds['windows'][] =>
  fleet.hosts.filter((observed) => observed.os === 'windows');

/** The Linux hosts that were observed. */
export const observedLinux = (fleet: Fleet): readonly Kinds['linux'][] =>
  fleet.hosts.filter((observed) => observed.os === 'linux');
