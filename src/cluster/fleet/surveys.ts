import type { DiskSync, OverlayTrial } from '../../host/disk.survey.ts';
import type { NotThere } from '../../host/packages/downloads.survey.ts';
import type { PortMatrix } from '../../host/ports.survey.ts';
import type { Surveyed } from '../../host/surveyor.survey.ts';
import type { PodNetwork } from '../../network/pod-network.survey.ts';

/** The results of all surveys: measurements between hosts, or over time. */
export interface Surveys {
  readonly ports: PortMatrix;
  readonly disks: readonly Surveyed<DiskSync>[];
  readonly overlays: readonly Surveyed<OverlayTrial>[];
  readonly downloads: readonly Surveyed<readonly NotThere[]>[];
  /** Missing if the operator did not select the survey of pods, or no cluster exists. */
  readonly pods?: { readonly found: PodNetwork } | { readonly failed: string } | undefined;
}
