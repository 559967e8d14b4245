import { type Check, type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';
import { distributions } from '../host/packages/distributions.value.ts';
import { linuxNodes } from '../inventory/hosts.ts';
import { flagType, knownVersion } from './tables.value.ts';

const supported = distributions.filter(({ support }) => support === 'supported');
const FILES = [...new Set(supported.map(({ kubeletArguments }) => kubeletArguments))].join(' or ');

const kubeletArguments = eachHost(
  {
    name: 'kubelet-arguments',
    title: `the kubelet gets no arguments from ${FILES}`,
    why:
      "The kubelet's unit reads `KUBELET_EXTRA_ARGS` of this file last: its flags win over `kubelet.config`, " +
      '`kubelet.extraArgs` and everything else that kbuild configures, and kbuild does not change the file. ' +
      'Move what you need into the inventory (`kubelet.config` or `kubelet.extraArgs` of the host), remove ' +
      'it from the file, and restart the kubelet. A flag that this version does not have is an error: the kubelet ' +
      'would end at once.',
    severities: ['warning', 'error'],
  },
  ({ inventory, host, facts }) => {
    // Other hosts have no node: the kubelet of an etcd host starts without these variables.
    if (host.role !== 'control-plane' && host.role !== 'worker') return [];
    // Most hosts have none, and the tables of flags are large.
    if (facts.kubeletOverrides.length === 0) return [];
    const { minor, source, isSure } = knownVersion(inventory.kubernetes.version);
    const unknown = (flag: string): boolean =>
      flag.startsWith('--') && flagType('kubelet', flag.slice(2), minor) === undefined;
    const missing = facts.kubeletOverrides.flatMap(({ file, flags }): readonly HostFinding[] =>
      flags.filter(unknown).map((flag) => ({
        severity: isSure ? 'error' : 'warning',
        message: `${file} gives the kubelet ${flag}, which Kubernetes ${source} does not have: it would end at once`,
        remedy: `remove ${flag} from ${file}`,
      })),
    );
    const winning = facts.kubeletOverrides.map(({ file, variable, flags }) => ({
      severity: 'warning' as const,
      message: `${file} sets ${variable} (${flags.join(', ')}), which wins over the inventory`,
      remedy:
        'move these flags to kubelet.config or kubelet.extraArgs of the inventory, remove the line, then ' +
        '`systemctl restart kubelet`',
    }));
    return [...missing, ...winning];
  },
);

const kubeletAnswers: Check = {
  name: 'kubelet-answers',
  title: 'the kubelet of every Ready node tells what it runs with',
  why:
    'kbuild compares the inventory with what a kubelet runs with: `/api/v1/nodes/NAME/proxy/configz` of the API ' +
    'server. Where the kubelet does not answer, because it has just been restarted or port 10250 is closed to the ' +
    'control planes, kbuild compares only its file, and the rest at the next observation. Then `kubectl logs` and ' +
    '`kubectl exec` do not work for pods of that node either.',
  severities: ['warning'],
  test: ({ inventory, fleet: { cluster } }) =>
    cluster.state !== 'up'
      ? []
      : linuxNodes(inventory)
          .filter(({ name }) => cluster.nodes.some((node) => node.name === name && node.ready))
          .filter(({ name }) => !cluster.kubelets.has(name))
          .map(({ name }) => ({
            severity: 'warning' as const,
            host: name,
            message: 'its kubelet did not tell what it runs with: whether its settings take effect is not known',
            remedy: `run check again; if it stays: kubectl get --raw /api/v1/nodes/${name}/proxy/configz`,
          })),
};

export const kubeletChecks: CheckGroup = { host: [kubeletArguments], fleet: [kubeletAnswers] };
