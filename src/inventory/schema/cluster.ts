import * as z from 'zod';
import { absolutePath, line, localPath, secretReference, text } from './formats.ts';

const UNITS_MS = { h: 3_600_000, d: 86_400_000 } as const;

/** `30d`, `720h` in ms. */
export const renewBeforeOf = (value: string): number =>
  Number(value.slice(0, -1)) * UNITS_MS[value.slice(-1) as keyof typeof UNITS_MS];

const distribution = () =>
  z.enum(['upload', 'copy']).meta({
    description:
      'How joining control planes get the certificates that all of them share. upload: encrypted in a Secret of ' +
      'the cluster, with a key made for each join. copy: from one control plane to the other, through the memory ' +
      'of kbuild; nothing is put into the cluster. Default: upload; copy where a CA has sign.',
  });

/** One of the user's own authorities. */
const authority = (description: string) =>
  z
    .strictObject({
      cert: localPath().meta({ description: 'PEM file of the certificate of the CA.' }),
      key: secretReference()
        .exactOptional()
        .meta({
          description:
            'Its private key (RSA or ECDSA, PEM): env:NAME, file:PATH or command:COMMAND. kubeadm signs with it. ' +
            'This, or sign.',
        }),
      sign: z
        .string()
        .min(1)
        .exactOptional()
        .meta({
          examples: ['./sign.sh'],
          description:
            'Instead of key: a command on this machine that signs, so that no host and not kbuild ever sees the ' +
            'key. It gets one request (PKCS#10, PEM) on its input and prints the certificate (PEM); ' +
            'KBUILD_CLUSTER, KBUILD_HOST, KBUILD_CERTIFICATE and KBUILD_PROFILE (client, server, or peer for ' +
            'both) say what for.',
        }),
    })
    .exactOptional()
    .meta({ description });

/** `certificates:` */
export const certificates = z
  .union([
    z.strictObject({
      distribution: distribution().exactOptional(),
      renewBefore: text(/^[1-9]\d{0,4}[dh]$/, 'days or hours, e.g. "30d" or "720h"')
        .exactOptional()
        .meta({
          description:
            'When `up` and `certs renew` renew a certificate: so long before its end (days or hours; default ' +
            '30d), or in the last third of its life where that is shorter. Authorities are never renewed by it.',
        }),
      ca: authority('Your own CA of the cluster. Default: kubeadm makes one. It cannot change later.'),
      etcdCa: authority(
        'Your own CA of etcd, stacked or on hosts of role etcd (there with its key only). Default: kubeadm makes ' +
          'one. It cannot change later.',
      ),
      frontProxyCa: authority(
        'Your own CA of the front proxy, whose certificate API servers show to extension API servers. Default: ' +
          'kubeadm makes one. It cannot change later.',
      ),
    }),
    distribution(),
  ])
  .default('upload')
  .meta({
    description: 'Certificates of the control plane; upload or copy alone stands for certificates.distribution.',
  });

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
          "Server blocks of the Corefile beside kubeadm's: zone → lines of the block, without its braces. A pod " +
          'of CoreDNS has to accept them before the cluster gets them.',
      }),
  })
  .prefault({})
  .meta({ description: 'Cluster DNS (CoreDNS). kbuild leaves alone what is not named here.' });

/** `files:` */
export const files = z
  .array(
    z.strictObject({
      hosts: z.union([line(), z.array(line()).min(1)]).meta({
        examples: ['worker'],
        description: 'Who gets it: "all", a role, a group, a name, a pattern with "*", or a list of these.',
      }),
      source: localPath().exactOptional().meta({ description: 'A text file on this machine, next to the inventory.' }),
      content: z
        .string()
        .exactOptional()
        .meta({ examples: ['Managed by kbuild.\n'], description: 'The content itself, instead of source.' }),
      secret: secretReference().exactOptional().meta({
        description: 'Content that no log may show: env:NAME, file:PATH or command:COMMAND, instead of source.',
      }),
      path: absolutePath().meta({ description: 'Absolute path on the host.' }),
      mode: text(/^0[0-7]{3}$/, 'four octal digits in quotes, e.g. "0644"')
        .exactOptional()
        .meta({ description: 'Permissions. Default: "0644", of a secret "0600".' }),
    }),
  )
  .default([])
  .meta({ description: 'Files that `up` puts on hosts before anything is installed.' });

const command = () =>
  z
    .string()
    .min(1)
    .meta({
      examples: ['./pager.sh "$KBUILD_ACTION $KBUILD_HOST"'],
      description: 'What /bin/sh runs. KBUILD_HOST, KBUILD_ROLE, KBUILD_ACTION and others say what for.',
    });

const timeout = () =>
  text(/^[1-9]\d{0,4}[smh]$/, 'seconds, minutes or hours, e.g. "90s" or "5m"')
    .default('5m')
    .meta({ description: 'How long it may take. A command that takes longer is ended and has failed.' });

/** Hooks about a host. */
const aboutHosts = (description: string) =>
  z
    .array(
      z.strictObject({
        command: command(),
        on: z.enum(['operator', 'host']).default('operator').meta({
          description:
            'operator: on the machine on which kbuild runs. host: on the host itself, as root; Linux hosts only.',
        }),
        hosts: z
          .union([line(), z.array(line()).min(1)])
          .default('all')
          .meta({
            examples: ['worker'],
            description: 'For which hosts: "all", a role, a group, a name, a pattern with "*", or a list of these.',
          }),
        timeout: timeout(),
      }),
    )
    .default([])
    .meta({ description });

/** `hooks:` */
export const hooks = z
  .strictObject({
    beforeChange: aboutHosts(
      'Before the first change that a run makes on a host. If one fails, the run leaves the host as it is.',
    ),
    beforeDrain: aboutHosts(
      'Before a node is cordoned and drained. If one fails, the node is not drained, and nothing is done for ' +
        'which it had to be.',
    ),
    afterUncordon: aboutHosts(
      'After a node takes pods again. If one fails, the host counts as failed, and the next run calls it again.',
    ),
    afterRun: z
      .array(z.strictObject({ command: command(), timeout: timeout() }))
      .default([])
      .meta({
        description:
          'On this machine after a run that had something to do, also after one that failed: KBUILD_EXIT is its ' +
          'exit code. If one fails, the run says so and keeps its exit code.',
      }),
  })
  .prefault({})
  .meta({ description: 'Your own commands around what kbuild does, e.g. for a load balancer, storage or alerts.' });
