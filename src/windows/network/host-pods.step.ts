import { createHash } from 'node:crypto';
import type { JsonObject } from '../../shell/decode.ts';

/** Folder in which a HostProcess container finds the files of its image (containerd 1.7 and later). */
export const IMAGE_ROOT = 'C:\\hpc';

/** Mount path of kbuild's scripts in its HostProcess pods. With containerd 1.7 and later the host has the same path. */
export const SCRIPTS = 'C:\\kbuild-network';

/** The command that runs a script in a pod, without a profile and without prompts. */
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
  /** All configuration of the pods. Its hash is an annotation: if it changes, the DaemonSet replaces its pods. */
  readonly configuration: string;
  readonly initContainers?: readonly JsonObject[];
  readonly containers: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
}

/** A DaemonSet of HostProcess pods: they run on every Windows host, as SYSTEM, in the host's network. */
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
