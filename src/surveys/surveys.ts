import type { DiskSync } from './disk-sync.ts';
import type { NotThere } from './downloads.ts';
import type { OverlayTrial } from './overlay.ts';
import type { PodNetwork } from './pod-network.ts';
import type { PortMatrix } from './port-matrix.ts';
import type { Surveyed } from './surveyed.ts';

/** What was measured over several hosts or with time, when it was. */
export interface Surveys {
  readonly ports: PortMatrix;
  readonly disks: readonly Surveyed<DiskSync>[];
  readonly overlays: readonly Surveyed<OverlayTrial>[];
  readonly downloads: readonly Surveyed<readonly NotThere[]>[];
  /** Missing where pods were not asked for, or there is no cluster for them. */
  readonly pods?: { readonly found: PodNetwork } | { readonly failed: string } | undefined;
}
