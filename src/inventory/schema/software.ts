import * as z from 'zod';
import { containerd } from '../../runtime/containerd.value.ts';
import { docker } from '../../runtime/docker.value.ts';
import { HANDLER_KINDS } from '../runtime-handlers.ts';
import { fingerprint, key, kubernetesRpm, runtimeRepository } from './downloads.ts';
import {
  absolutePath,
  cidr,
  dnsName,
  endpoint,
  freeObject,
  image,
  imageRepository,
  line,
  localPath,
  manifestEntry,
  port,
  publicKeyHash,
  secretReference,
  text,
  url,
  version,
} from './formats.ts';

const quantity = () => text(/^[1-9]\d*(?:m|Ki|Mi|Gi)?$/, 'a quantity of Kubernetes, e.g. "320Mi"');

const handler = z.strictObject({
  kind: z
    .enum(HANDLER_KINDS)
    .exactOptional()
    .meta({
      examples: ['kata'],
      description:
        'What runs the containers: crun; kata (Kata Containers); nvidia (the NVIDIA Container Toolkit); runsc (gVisor). Default: the name of the handler.',
    }),
  path: absolutePath().exactOptional().meta({
    description:
      'Program on the host: crun, the shim of Kata Containers, nvidia-container-runtime, or runsc with its shim beside it. You put it there. Default: runsc and nvidia come as packages of their projects; crun and kata need a path.',
  }),
  config: absolutePath()
    .exactOptional()
    .meta({
      examples: ['/opt/kata/share/defaults/kata-containers/configuration-qemu.toml'],
      description: 'kata: its configuration on the host. Default: the one that it finds itself.',
    }),
  overhead: z
    .strictObject({
      cpu: quantity()
        .exactOptional()
        .meta({ examples: ['250m'], description: 'Processor time.' }),
      memory: quantity().exactOptional().meta({ description: 'Memory.' }),
    })
    .default({})
    .meta({
      description:
        'What a pod takes beside its containers, e.g. for its virtual machine: overhead of the RuntimeClass.',
    }),
});

/** `handlers:` of a runtime. */
export const handlers = z
  .record(
    text(
      /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
      'a name of at most 40 lower-case letters, digits and hyphens, e.g. "crun"',
    ),
    handler,
  )
  .default({})
  .meta({
    examples: [{ crun: { path: '/usr/bin/crun' } }],
    description:
      'Further ways to start containers: the name of a handler and of its RuntimeClass, and below it what runs it. Those of all levels together; the nearest describes a handler. Pods that name the RuntimeClass run on hosts that have the handler. All other pods run as before.',
  });

/** `kubernetes:` */
export const kubernetes = z
  .strictObject({
    version: version().meta({ description: 'Exact version in quotes, e.g. "1.36.3".' }),
    via: z.array(version()).default([]).meta({
      description:
        'Versions through which `upgrade` passes, one for each minor between that of the cluster and version. Default: the newest of each minor in the repository.',
    }),
    endpoint: endpoint().exactOptional().meta({
      description:
        'host:port at which kubelets and users reach the API: a name or address that stays when hosts come and go. Default with one control plane: its internalAddress, port 6443; such a cluster can get a second one only after `kbuild move-endpoint`.',
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

const windows = z
  .strictObject({
    services: z.boolean().default(false).meta({
      description:
        'True: flanneld and kube-proxy are services of each Windows host, run by nssm, instead of HostProcess pods; windows.downloads.network has their programs.',
    }),
    flannelImage: image().default('docker.io/sigwindowstools/flannel:v0.21.5-hostprocess').meta({
      description: 'HostProcess image with flanneld.exe in C:\\flannel and the CNI plugins in C:\\cni.',
    }),
    kubeProxyImage: image().exactOptional().meta({
      description:
        'HostProcess image with kube-proxy.exe in C:\\kube-proxy; with Calico too. Default: docker.io/sigwindowstools/kube-proxy:v<version>-calico-hostprocess, the one that is still published.',
    }),
  })
  .prefault({})
  .meta({
    description:
      'The network of Windows hosts. With flannel its kind follows flannel.backend: overlay, or host-gw (l2bridge).',
  });

/** `network.cilium:` */
export const ciliumSettings = z.strictObject({
  image: image().default('quay.io/cilium/cilium:v1.20.2').meta({ description: 'Image of the agent.' }),
  operatorImage: image()
    .default('quay.io/cilium/operator-generic:v1.20.2')
    .meta({ description: 'Image of the operator.' }),
  tunnel: z.enum(['vxlan', 'geneve', 'none']).default('vxlan').meta({
    description: 'How packets reach pods of other hosts. none: by routes; all hosts are in one network.',
  }),
  encryption: z.enum(['none', 'wireguard']).default('none').meta({
    description: 'wireguard: packets between pods of different hosts are encrypted.',
  }),
});

/** `network:` */
export const network = z
  .strictObject({
    plugin: z.enum(['flannel', 'calico', 'cilium', 'none']).default('flannel').meta({
      description:
        'Network plugin. calico (not run): by its operator, VXLAN without BGP, as Windows hosts need it. cilium: not built yet. none: install one yourself, e.g. by manifests.',
    }),
    podSubnet: cidr()
      .default('10.244.0.0/16')
      .meta({ description: 'Addresses of pods (IPv4); every node takes a /24 of it.' }),
    serviceSubnet: cidr().default('10.96.0.0/12').meta({ description: 'Addresses of Services (IPv4), /12 to /28.' }),
    moreServiceSubnets: z
      .array(cidr())
      .default([])
      .meta({
        examples: [['10.112.0.0/16']],
        description:
          'More addresses for Services, also of a live cluster: a ServiceCIDR each. One that you take out is deleted when no Service has an address of it.',
      }),
    flannel: z
      .strictObject({
        image: image().default('ghcr.io/flannel-io/flannel:v0.28.10').meta({ description: 'Image of flanneld.' }),
        cniPluginImage: image()
          .default('ghcr.io/flannel-io/flannel-cni-plugin:v1.9.1-flannel1')
          .meta({ description: 'Image that brings the CNI plugin.' }),
        backend: z.enum(['vxlan', 'host-gw']).default('vxlan').meta({
          description:
            'How packets reach pods of other hosts. vxlan: by tunnels. host-gw: by routes; all hosts are in one network, and nothing between them filters by address.',
        }),
        port: port().exactOptional().meta({
          description: 'vxlan: UDP port. Default: 8472, or 4789 where there are Windows hosts, which know no other.',
        }),
        vni: z.number().int().min(1).max(16_777_215).exactOptional().meta({
          description:
            'vxlan: network identifier. Default: 1, or 4096 where there are Windows hosts, which take none below.',
        }),
        nftables: z.boolean().exactOptional().meta({
          description:
            'True: flanneld writes its rules with nftables, which needs kernel 5.13 on Linux hosts and nft in the image; flannel calls it experimental. False: with iptables. Default: true with kubeadm.kubeProxy.mode: nftables and an image whose tag is 0.25.0 or newer.',
        }),
      })
      .prefault({})
      .meta({ description: 'Settings of flannel.' }),
    calico: z
      .strictObject({
        operator: z.array(manifestEntry()).default([]).meta({
          description:
            "Manifests of Calico's operator and its CRDs: YAML files, or https:// URLs with the version in them, of 3.27 or later; or mappings of source and sha256.",
        }),
        imageRepository: imageRepository().exactOptional().meta({
          description: "Where the operator takes Calico's images from. Default: what it was made with.",
        }),
      })
      .prefault({})
      .meta({ description: 'Settings of Calico.' }),
    cilium: ciliumSettings.exactOptional().meta({ description: 'Settings of Cilium: not built yet.' }),
    windows,
    testImage: image().exactOptional().meta({
      description:
        'Image with agnhost for tests of the network from pods; one that has a variant for each system. Default: registry.k8s.io/e2e-test-images/agnhost:2.53, and with Windows hosts 2.62, which has both builds.',
    }),
  })
  .prefault({})
  .meta({ description: 'The network of pods and Services.' });

const registry = z.strictObject({
  host: text(
    /^(?:_default|[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?)$/,
    'a registry as in image names, or "_default"',
  ).meta({
    examples: ['registry.example.com:5000'],
    description:
      'Registry as it stands in image names, e.g. docker.io or registry.example.com:5000; _default for all others.',
  }),
  mirrors: z
    .array(url())
    .default([])
    .meta({ description: 'Base URLs that are asked first, in this order. With a login: https:// only.' }),
  ca: localPath().exactOptional().meta({ description: 'PEM file with the CA of registry and mirrors.' }),
  username: line()
    .exactOptional()
    .meta({ examples: ['robot'], description: 'Who logs in.' }),
  password: secretReference()
    .exactOptional()
    .meta({ description: 'Password: env:NAME, file:PATH or command:COMMAND.' }),
});

/** A setting whose default is the runtime's; editors and the documentation show that of the default runtime. */
const { package: PACKAGE_DEFAULT } = containerd.defaults;

const PACKAGE = text(/^[a-z0-9][a-z0-9+.-]+$/, 'the name of a Debian package');

const RUNTIMES = z.enum(['containerd', 'crio', 'docker']);

/** What every host can have of its own. */
const ofHost = {
  version: version().exactOptional().meta({
    description:
      'Exact version in quotes. If you edit it, `up` changes joined hosts one at a time, drained unless only the patch differs. Default: of the newest line that the runtime supports with the Kubernetes minor, on new hosts; joined hosts follow by `upgrade`.',
  }),
  package: PACKAGE.exactOptional().meta({ default: PACKAGE_DEFAULT, description: 'Name of the package.' }),
  repository: runtimeRepository,
  config: freeObject()
    .default({})
    .meta({
      examples: [{ metrics: { address: '127.0.0.1:1338' } }],
      description: `Merged into ${containerd.paths.config}, into the drop-in of CRI-O, or into ${docker.shared!.path}.`,
    }),
  selinux: z.boolean().exactOptional().meta({
    description:
      'True: SELinux confines containers, on hosts that have it. Default: false; the runtime labels nothing, and containers run unconfined.',
  }),
  handlers,
};

/** `runtime:` of a role, a group or a host. */
export const runtimeOfNode = z
  .strictObject({
    name: RUNTIMES.exactOptional().meta({
      description: 'Container runtime. If it is another than that of farther levels, nothing else of theirs applies.',
    }),
    ...ofHost,
  })
  .exactOptional()
  .meta({
    description: 'The container runtime, if it is another one here; the nearest wins: host, groups, role, all.',
  });

/** `runtime:` */
export const runtime = z
  .strictObject({
    name: RUNTIMES.default('containerd').meta({
      description: 'Container runtime. Every role, group and host can have another one.',
    }),
    ...ofHost,
    cgroupDriver: z.enum(['systemd', 'cgroupfs']).default('systemd').meta({
      description: 'cgroup driver of runtime and kubelet alike, on all hosts. systemd must be init either way.',
    }),
    registries: z.array(registry).default([]).meta({ description: 'How registries are reached.' }),
  })
  .prefault({})
  .meta({ description: 'The container runtime.' });
