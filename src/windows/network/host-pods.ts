import { createHash } from 'node:crypto';
import type { JsonObject } from '../../model/inventory.ts';

/** Where a HostProcess container of containerd 1.7 and later finds the files of its image. */
export const IMAGE_ROOT = 'C:\\hpc';

/** Where scripts of kbuild's ConfigMaps lie in its HostProcess pods; with containerd 1.7 and later, also on the host. */
export const SCRIPTS = 'C:\\kbuild-network';

/** How a script is run in a pod: nothing of a profile, no questions. */
export const powershellFile = (name: string): readonly string[] => [
  'powershell.exe',
  ...['-NoLogo', '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File'],
  `${SCRIPTS}\\${name}`,
];

/** An environment variable that holds a field of the pod. */
export const field = (name: string, fieldPath: string): JsonObject => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});

/** Environment variables with fixed values. */
export const values = (variables: Readonly<Record<string, string>>): readonly JsonObject[] =>
  Object.entries(variables).map(([name, value]) => ({ name, value }));

interface HostProcessDaemon {
  readonly name: string;
  readonly namespace: string;
  readonly label: { readonly name: string; readonly value: string };
  readonly serviceAccount: string;
  /** Pods do not read a changed ConfigMap again: another text rolls them. */
  readonly configuration: string;
  readonly initContainers?: readonly JsonObject[];
  readonly containers: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
}

/** A DaemonSet whose pods are processes of every Windows host, as SYSTEM, in the host's network. */
export function hostProcessDaemon(daemon: HostProcessDaemon): JsonObject {
  const labels = { [daemon.label.name]: daemon.label.value };
  const hash = createHash('sha256').update(daemon.configuration).digest('hex').slice(0, 16);
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: daemon.name, namespace: daemon.namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: { labels, annotations: { 'kbuild.dev/config': hash } },
        spec: {
          nodeSelector: { 'kubernetes.io/os': 'windows' },
          hostNetwork: true,
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists' }],
          serviceAccountName: daemon.serviceAccount,
          securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } },
          ...(daemon.initContainers === undefined ? {} : { initContainers: daemon.initContainers }),
          containers: daemon.containers,
          volumes: daemon.volumes,
        },
      },
    },
  };
}
