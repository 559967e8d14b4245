import { resetConfiguration } from '../../configuration/kubeadm-config.ts';
import { kubeadmJob } from '../../configuration/kubeadm-job.ts';
import { secretYaml } from '../../configuration/secret-yaml.ts';
import type { Step } from '../../engine/step.ts';

/** Nothing of kubeadm and the kubelet is left on the host: no credentials, manifests, etcd data, containers and mounts. */
export const kubeadmReset: Step = {
  name: 'kubeadm-reset',
  diff: ({ inventory, host, facts }) => {
    const mounts = facts.leftovers.filter((one) => one.startsWith('mount '));
    const found = facts.kubernetesTraces.size + mounts.length;
    if (found === 0) return [];
    const what = [...facts.kubernetesTraces, ...mounts.map((one) => one.slice('mount '.length))].slice(0, 2).join(', ');
    return [
      {
        summary: `kubeadm reset on ${host.name} (found ${what}${found > 2 ? `, ${String(found - 2)} more` : ''})`,
        apply: (on) => kubeadmJob(on(host), inventory, 'reset', secretYaml([resetConfiguration(inventory)])),
      },
    ];
  },
};
