import * as z from 'zod';
import { localPath, secretReference } from './formats.ts';

const distribution = () =>
  z.enum(['upload', 'copy']).meta({
    description:
      'How joining control planes get the certificates that all of them share. upload: encrypted in a Secret of the cluster, with a key made for each join. copy: from one control plane to the other, through the memory of kbuild; nothing is put into the cluster.',
  });

/** `certificates:` */
export const certificates = z
  .union([
    z.strictObject({
      distribution: distribution().default('upload'),
      ca: z
        .strictObject({
          cert: localPath().meta({ description: 'PEM file of the certificate of the CA that the cluster shall have.' }),
          key: secretReference().exactOptional().meta({
            description:
              'Its private key (RSA or ECDSA, PEM): env:NAME, file:PATH or command:COMMAND. kubeadm signs with it.',
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
