import { acting } from '../cluster/acting.ts';
import { kubectl } from '../configuration/kubectl.ts';
import { kubeletSubject } from '../configuration/signed-certificates.ts';
import { signedCertificate, signingAuthority } from '../configuration/signing.ts';
import type { Step } from '../engine/step.ts';
import type { KubeletRequest } from '../facts/kubelet-requests.ts';
import { sh } from '../shell/sh.ts';

/** What the cluster gets to know. The uid: another request of that name is not meant. */
const answer = ({ uid }: KubeletRequest, certificate: string): string =>
  JSON.stringify({ metadata: { uid }, status: { certificate: Buffer.from(certificate).toString('base64') } });

/**
 * No kubelet of a node waits for its next client certificate, where an authority signs elsewhere: nobody in the cluster
 * signs there. Signed is what a node asks for itself, as Kubernetes' own signer would, and nothing else.
 */
export const kubeletRequests: Step<'cluster'> = {
  name: 'kubelet-requests',
  diff: ({ inventory, facts, fleet }) => {
    const authority = signingAuthority(inventory);
    if (authority === undefined || facts.state !== 'up') return [];
    const due = facts.kubeletRequests.filter(({ node }) => facts.nodes.some(({ name }) => name === node));
    if (due.length === 0) return [];
    return [
      {
        summary: `sign the next client certificate of the kubelet${due.length === 1 ? '' : 's'} on ${due.map(({ node }) => node).join(', ')} (found ${due.map(({ name }) => name).join(', ')} pending)`,
        apply: async (on) => {
          const control = acting(fleet);
          const tool = kubectl(inventory, control);
          for (const pending of due) {
            const request = {
              host: pending.node,
              certificate: 'kubelet',
              profile: 'client',
              request: pending.request,
            } as const;
            const certificate = await signedCertificate(authority, request, [kubeletSubject(pending.node)]);
            await on(control).run(
              sh`printf %s ${answer(pending, certificate)} | ${tool} patch certificatesigningrequest ${pending.name} --subresource status --type merge --patch-file /dev/stdin`,
            );
          }
        },
      },
    ];
  },
};
