import * as z from 'zod';
import { fingerprint, key, kubernetesRpm } from './downloads.ts';
import { dnsName, endpoint, imageRepository, publicKeyHash, url, version } from './formats.ts';

/** `kubernetes:` */
export const kubernetes = z
  .strictObject({
    version: version().meta({ description: 'Exact version in quotes, e.g. "1.36.3".' }),
    via: z
      .array(version())
      .default([])
      .meta({
        description:
          'Versions through which `upgrade` passes, one for each minor between that of the cluster and version. ' +
          'Default: the newest of each minor in the repository.',
      }),
    endpoint: endpoint()
      .exactOptional()
      .meta({
        description:
          'host:port at which kubelets and users reach the API: a name or address that stays when hosts come and ' +
          'go. Default with one control plane: its internalAddress, port 6443; such a cluster can get a second one ' +
          'only after `kbuild move-endpoint`.',
      }),
    endpointInHosts: z.boolean().default(false).meta({
      description: "True: the endpoint's name goes into every host's /etc/hosts.",
    }),
    repository: z
      .strictObject({
        url: url()
          .default('https://pkgs.k8s.io/core:/stable:/v{minor}/deb')
          .meta({ description: 'Flat apt repository; {minor} stands for 1.36 and the like.' }),
        key: key('Its signing key, armored: URL or file. Default: Release.key below the url.'),
        fingerprint: fingerprint()
          .default('DE15B14486CD377B9E876E1A234654DA9A296436')
          .meta({ description: "Fingerprint of the signing key. Default: that of pkgs.k8s.io's." }),
        rpm: kubernetesRpm,
      })
      .prefault({})
      .meta({ description: 'Where kubeadm, kubelet and kubectl come from.' }),
    imageRepository: imageRepository()
      .default('registry.k8s.io')
      .meta({ description: "Where kubeadm's images come from." }),
    dnsDomain: dnsName().default('cluster.local').meta({ description: 'DNS domain of Services.' }),
    adopt: publicKeyHash().exactOptional().meta({
      description: 'Takes over a cluster that kubeadm built without kbuild: hash of its CA’s public key.',
    }),
  })
  .meta({ description: 'The Kubernetes to build.' });
