/** For tests of what comes between in the middle of an upgrade. */
import type { Event } from '../../src/engine/event.ts';
import type { Running } from './kbuild.ts';
import * as lab from './lab.ts';
import { GATEWAY, REGISTRY_PORT } from './network-plan.ts';
import { kubectl } from './pods.ts';
import { reported } from './reported.ts';
import { KUBERNETES } from './versions.ts';

const HALF_AN_HOUR = 30 * 60_000;

/** Output of a command in a host. */
export const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();

/** Returns the summary of an event of a running `--json` upgrade, as soon as it is reported. `about`: text in the summary. */
export async function happened(
  running: Running,
  kind: Event['kind'],
  host: string,
  step: string,
  about = '',
): Promise<string> {
  const event = await reported(
    running,
    `${kind} ${host} ${step} ${about}`,
    HALF_AN_HOUR,
    (one) =>
      one.kind === kind && 'step' in one && one.host === host && one.step === step && one.summary.includes(about),
  );
  return 'summary' in event ? event.summary : '';
}

/** The registry refuses these hosts until they boot again. */
export const withoutRegistry = async (hosts: readonly string[]): Promise<void> => {
  const reject = `iptables -w -I OUTPUT -p tcp -d ${GATEWAY} --dport ${String(REGISTRY_PORT)} -j REJECT`;
  await Promise.all(hosts.map((host) => inside(host, reject)));
};

/** The kubelets' versions, by node. */
export async function kubelets(controlPlane: string): Promise<Readonly<Record<string, string>>> {
  const { items } = JSON.parse(await kubectl(controlPlane, 'get nodes -o json')) as {
    items: { metadata: { name: string }; status: { nodeInfo: { kubeletVersion: string } } }[];
  };
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion]));
}

/** Applies objects. */
export const apply = (controlPlane: string, objects: readonly object[]): Promise<string> =>
  kubectl(controlPlane, 'apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

/** A Deployment whose only pod can run on this worker alone, with further settings of pod and container. */
export const pinned = (name: string, worker: string, pod: object = {}, container: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': worker },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'pause', image: `registry.k8s.io/pause:${KUBERNETES[1].pause}`, ...container }],
        ...pod,
      },
    },
  },
});
