import * as z from 'zod';
import { localPath, secretReference } from './formats.ts';

const distribution = () =>
  z.enum(['upload', 'copy']).meta({
    description:
      'How joining control planes get the certificates that all of them share. upload: encrypted in a Secret of the cluster, with a key made for each join. copy: from one control plane to the other, through the memory of kbuild; nothing is put into the cluster. Default: upload; copy where ca.sign signs.',
  });

/** `certificates:` */
export const certificates = z
  .union([
    z.strictObject({
      distribution: distribution().exactOptional(),
      ca: z
        .strictObject({
          cert: localPath().meta({ description: 'PEM file of the certificate of the CA that the cluster shall have.' }),
          key: secretReference().exactOptional().meta({
            description:
              'Its private key (RSA or ECDSA, PEM): env:NAME, file:PATH or command:COMMAND. kubeadm signs with it. This, or sign.',
          }),
          sign: z.string().min(1).exactOptional().meta({
            description:
              'Instead of key: a command on this machine that signs, so that no host and not kbuild ever sees the key. It gets one request (PKCS#10, PEM) on its input and prints the certificate (PEM); KBUILD_CLUSTER, KBUILD_HOST, KBUILD_CERTIFICATE and KBUILD_PROFILE (client or server) say what for.',
          }),
        })
        .exactOptional()
        .meta({ description: 'Your own CA. Default: kubeadm makes one. It cannot change later.' }),
    }),
    distribution(),
  ])
  .default('upload')
  .meta({
    description: 'Certificates of the control plane; upload or copy alone stands for certificates.distribution.',
  });
