import { acting } from '../cluster/acting.ts';
import { kubectl } from '../configuration/kubectl.ts';
import { kubeletSubject } from '../configuration/signed-certificates.ts';
import { signedCertificate, signingAuthority } from '../configuration/signing.ts';
import type { Step } from '../engine/step.ts';
import { sh } from '../shell/sh.ts';
import { issued } from './kubelet-serving.ts';

/**
 * Signs the kubelets' requests for their next client certificates if the certificate authority is external: no controller
 * of the cluster can sign then. Like Kubernetes' own signer, kbuild signs only what a node requests for itself.
 */
export const kubeletRequests: Step<'cluster'> = {
  name: 'kubelet-requests',
  diff: ({ inventory, facts, fleet }) => {
    const authority = signingAuthority(inventory);
    if (authority === undefined || facts.state !== 'up') return [];
    const pending = facts.kubeletRequests.filter(
      ({ profile, node }) => profile === 'client' && facts.nodes.some(({ name }) => name === node),
    );
    if (pending.length === 0) return [];
    return [
      {
        summary: `sign the next client certificate of the kubelet${pending.length === 1 ? '' : 's'} on ${pending.map(({ node }) => node).join(', ')} (found ${pending.map(({ name }) => name).join(', ')} pending)`,
        apply: async (on) => {
          const control = acting(fleet);
          const tool = kubectl(inventory, control);
          for (const asked of pending) {
            const { name, node, request } = asked;
            const certificate = await signedCertificate(
              authority,
              { host: node, certificate: 'kubelet', profile: 'client', request },
              [kubeletSubject(node)],
            );
            await on(control).run(
              sh`printf %s ${issued(asked, certificate)} | ${tool} patch certificatesigningrequest ${name} --subresource status --type merge --patch-file /dev/stdin`,
            );
          }
        },
      },
    ];
  },
};
