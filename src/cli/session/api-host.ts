import { acting } from '../../cluster/acting.ts';
import type { ApiHost } from '../../engine/lease.ts';
import { apiServerUrl } from '../../topology/api-server.ts';
import type { Connected } from './connect.ts';

/** The control plane through which this run uses the cluster's API; undefined if no API answered when it was last observed. */
export function apiHost({ inventory, observations, on }: Connected): ApiHost | undefined {
  const fleet = observations.fleet();
  if (fleet.cluster.state !== 'up') return undefined;
  try {
    const host = acting(fleet);
    return { remote: on(host), server: apiServerUrl(inventory, host) };
  } catch {
    return undefined;
  }
}
