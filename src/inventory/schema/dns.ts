import * as z from 'zod';
import { text } from './formats.ts';

const quantity = (example: string) =>
  text(/^\d{1,9}(?:\.\d{1,3})?(?:m|k|M|G|T|Ki|Mi|Gi|Ti)?$/, `a quantity in quotes, e.g. "${example}"`).exactOptional();

const amounts = (what: string) =>
  z
    .strictObject({
      cpu: quantity('200m').meta({ description: `CPU, ${what}.` }),
      memory: quantity('300Mi').meta({ description: `Memory, ${what}.` }),
    })
    .exactOptional();

/** The key of a block: a zone, with a port if it is not 53. */
const ZONE =
  /^(?=.{1,253}(?::|$))[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*(?::[1-9]\d{0,4})?$/;

/** `dns:` */
export const dns = z
  .strictObject({
    replicas: z.number().int().min(1).max(100).exactOptional().meta({
      description: "Number of CoreDNS's pods. Default: kubeadm's 2, or as many as you have scaled it to.",
    }),
    resources: z
      .strictObject({
        requests: amounts('for which a node must have room').meta({
          description: "What each pod is sure to get. Default: kubeadm's 100m and 70Mi.",
        }),
        limits: amounts('of which a pod gets no more').meta({
          description: "Limits of each pod. Default: kubeadm's 170Mi, and no limit of CPU.",
        }),
      })
      .exactOptional()
      .meta({ description: "Resources of each of CoreDNS's pods, over those of kubeadm." }),
    blocks: z
      .record(
        z.string().regex(ZONE, 'must be a zone in lower case, with a port if it is not 53, e.g. "corp.example.com"'),
        z.string().min(1).max(16_384),
      )
      .default({})
      .meta({
        examples: [{ 'corp.example.com': 'errors\ncache 30\nforward . 10.0.0.53\n' }],
        description:
          "Server blocks of the Corefile beside kubeadm's: zone → lines of the block, without its braces. A pod of CoreDNS has to accept them before the cluster gets them.",
      }),
  })
  .prefault({})
  .meta({ description: 'Cluster DNS (CoreDNS). kbuild leaves alone what is not named here.' });
