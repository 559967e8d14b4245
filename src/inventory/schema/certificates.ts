import * as z from 'zod';
import { localPath, secretReference, text } from './formats.ts';

const UNITS_MS = { h: 3_600_000, d: 86_400_000 } as const;

/** `30d`, `720h` in ms. */
export const renewBeforeOf = (value: string): number =>
  Number(value.slice(0, -1)) * UNITS_MS[value.slice(-1) as keyof typeof UNITS_MS];

const distribution = () =>
  z.enum(['upload', 'copy']).meta({
    description:
      'How joining control planes get the certificates that all of them share. upload: encrypted in a Secret of the cluster, with a key made for each join. copy: from one control plane to the other, through the memory of kbuild; nothing is put into the cluster. Default: upload; copy where a CA has sign.',
  });

/** One of the user's own authorities. */
const authority = (description: string) =>
  z
    .strictObject({
      cert: localPath().meta({ description: 'PEM file of the certificate of the CA.' }),
      key: secretReference().exactOptional().meta({
        description:
          'Its private key (RSA or ECDSA, PEM): env:NAME, file:PATH or command:COMMAND. kubeadm signs with it. This, or sign.',
      }),
      sign: z
        .string()
        .min(1)
        .exactOptional()
        .meta({
          examples: ['./sign.sh'],
          description:
            'Instead of key: a command on this machine that signs, so that no host and not kbuild ever sees the key. It gets one request (PKCS#10, PEM) on its input and prints the certificate (PEM); KBUILD_CLUSTER, KBUILD_HOST, KBUILD_CERTIFICATE and KBUILD_PROFILE (client, server, or peer for both) say what for.',
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
            'When `up` and `certs renew` renew a certificate: so long before its end (days or hours; default 30d), or in the last third of its life where that is shorter. Authorities are never renewed by it.',
        }),
      ca: authority('Your own CA of the cluster. Default: kubeadm makes one. It cannot change later.'),
      etcdCa: authority(
        'Your own CA of etcd, stacked or on hosts of role etcd (there with its key only). Default: kubeadm makes one. It cannot change later.',
      ),
      frontProxyCa: authority(
        'Your own CA of the front proxy, whose certificate API servers show to extension API servers. Default: kubeadm makes one. It cannot change later.',
      ),
    }),
    distribution(),
  ])
  .default('upload')
  .meta({
    description: 'Certificates of the control plane; upload or copy alone stands for certificates.distribution.',
  });
