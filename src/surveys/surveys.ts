import type { DiskSync } from './disk-sync.ts';
import type { NotThere } from './downloads.ts';
import type { OverlayTrial } from './overlay.ts';
import type { PodNetwork } from './pod-network.ts';
import type { PortMatrix } from './port-matrix.ts';
import type { Surveyed } from './surveyed.ts';

/** The results of all surveys: measurements between hosts, or over time. */
export interface Surveys {
  readonly ports: PortMatrix;
  readonly disks: readonly Surveyed<DiskSync>[];
  readonly overlays: readonly Surveyed<OverlayTrial>[];
  readonly downloads: readonly Surveyed<readonly NotThere[]>[];
  /** Missing if the operator did not select the survey of pods, or no cluster exists. */
  readonly pods?: { readonly found: PodNetwork } | { readonly failed: string } | undefined;
}
